use super::*;
use proptest::prelude::*;

const CLAUDE: ImageFormula = ImageFormula::Area { max_edge: 1568, max_tokens: 1600 };
const GPT_4O: ImageFormula = ImageFormula::Tiles512 { base: 85, tile: 170 };
const GPT_4_1_MINI: ImageFormula =
    ImageFormula::Patches32 { max_patches: 1536, max_original: 1536, factor_thousandths: 1620 };
const GEMINI_2_5: ImageFormula = ImageFormula::Tiles768 { tile: 258 };

/// The head of a PNG of this size.
fn png(width: u32, height: u32) -> String {
    let mut bytes = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".to_vec();
    bytes.extend(width.to_be_bytes());
    bytes.extend(height.to_be_bytes());
    bytes.extend([8, 6, 0, 0, 0, 0, 0, 0, 0, 0]);
    STANDARD_NO_PAD.encode(bytes)
}

/// The head of a JPEG whose size comes after `padding` bytes of application data.
fn jpeg(width: u16, height: u16, padding: usize) -> Vec<u8> {
    let mut bytes = vec![0xFF, 0xD8];
    let mut left = padding;
    while left > 0 {
        let size = left.min(60_000);
        bytes.extend([0xFF, 0xE1]);
        bytes.extend((size as u16 + 2).to_be_bytes());
        bytes.extend(std::iter::repeat_n(0, size));
        left -= size;
    }
    bytes.extend([0xFF, 0xC0, 0x00, 0x11, 0x08]);
    bytes.extend(height.to_be_bytes());
    bytes.extend(width.to_be_bytes());
    bytes.extend([3, 1, 0x22, 0, 2, 0x11, 1, 3, 0x11, 1]);
    bytes
}

fn tokens(formula: ImageFormula, width: u32, height: u32) -> u64 {
    formula.count(&Image::from_base64(&png(width, height))).ceil_tokens()
}

#[test]
fn the_length_formula_matches_its_vectors() {
    let vectors = [(0, 0), (1, 2), (10, 6), (25, 8), (1000, 48), (1_000_000, 1500)];
    for (length, expected) in vectors {
        assert_eq!(by_data_length(length).ceil_tokens(), expected, "{length} characters");
    }
    assert_eq!(by_data_length(u64::MAX).ceil_tokens(), 6_442_450_944);
}

#[test]
fn anthropic_counts_the_area_after_scaling_down() {
    assert_eq!(tokens(CLAUDE, 200, 200), 54);
    assert_eq!(tokens(CLAUDE, 1000, 1000), 1334);
    assert_eq!(tokens(CLAUDE, 1092, 1092), 1590);
    assert_eq!(tokens(CLAUDE, 4000, 4000), 1600);
    assert_eq!(tokens(CLAUDE, 15680, 100), 21);
}

#[test]
fn openai_counts_tiles() {
    assert_eq!(tokens(GPT_4O, 1024, 1024), 765);
    assert_eq!(tokens(GPT_4O, 2048, 4096), 1105);
    assert_eq!(tokens(GPT_4O, 512, 512), 255);
    assert_eq!(tokens(GPT_4O, 1, 1), 255);
}

#[test]
fn newer_openai_models_count_patches() {
    assert_eq!(tokens(GPT_4_1_MINI, 1024, 1024), 1659);
    // 33 by 44 patches after scaling down, as in the published example.
    assert_eq!(patches_32(1800, 2400, 1536), 1452);
    assert_eq!(patches_32(1, 1 << 19, 1536), 1536);
    let plain = ImageFormula::Patches32 { max_patches: 2500, max_original: 10_000, factor_thousandths: 1000 };
    let data = png(3200, 3200);
    let at = |detail| plain.count(&Image { detail, ..Image::from_base64(&data) }).ceil_tokens();
    assert_eq!(at(Some(Detail::Low)), 256);
    assert_eq!(at(None), 2500);
    assert_eq!(at(Some(Detail::Original)), 10_000);
}

#[test]
fn gemini_counts_tiles_or_a_flat_price() {
    assert_eq!(tokens(GEMINI_2_5, 384, 384), 258);
    assert_eq!(tokens(GEMINI_2_5, 385, 100), 258);
    assert_eq!(tokens(GEMINI_2_5, 1000, 700), 516);
    let flat = ImageFormula::Flat { low: 280, medium: 560, high: 1120, original: 2240 };
    assert_eq!(tokens(flat, 10, 10), 1120);
    assert_eq!(flat.count(&Image { detail: Some(Detail::Low), ..Image::from_url() }).ceil_tokens(), 280);
}

#[test]
fn what_has_no_pixels_counts_by_its_length() {
    let data = png(1000, 1000);
    let document = Image { media_type: Some("application/pdf"), ..Image::from_base64(&data) };
    assert_eq!(CLAUDE.count(&document), by_data_length(data.len() as u64));
    let noise = "!".repeat(100);
    assert_eq!(GPT_4O.count(&Image::from_base64(&noise)).ceil_tokens(), 15);
    assert_eq!(GPT_4O.count(&Image::from_base64("")).ceil_tokens(), 0);
}

#[test]
fn a_link_counts_as_a_picture_of_common_size() {
    assert_eq!(CLAUDE.count(&Image::from_url()).ceil_tokens(), 1399);
    assert_eq!(GEMINI_2_5.count(&Image::from_url()).ceil_tokens(), 1032);
    assert_eq!(ImageFormula::DataLength.count(&Image::from_url()).ceil_tokens(), 0);
}

#[test]
fn the_size_is_found_behind_a_thumbnail_but_not_behind_half_a_megabyte() {
    for padding in [0, 500, 5_000, 100_000, 300_000] {
        let data = STANDARD_NO_PAD.encode(jpeg(640, 480, padding));
        assert_eq!(Image::from_base64(&data).pixel_size(), Some((640, 480)), "{padding} bytes");
    }
    let data = STANDARD_NO_PAD.encode(jpeg(640, 480, 500_000));
    assert_eq!(Image::from_base64(&data).pixel_size(), None);
}

#[test]
fn escaped_slashes_line_breaks_and_the_url_alphabet_are_read_through() {
    let plain = STANDARD_NO_PAD.encode(jpeg(640, 480, 0));
    assert!(plain.contains('/'));
    for data in [plain.replace('/', "\\/"), plain.replace('/', "_").replace('+', "-"), plain.replace('/', "/\r\n")] {
        assert_eq!(Image::from_base64(&data).pixel_size(), Some((640, 480)));
    }
}

#[test]
fn lying_headers_neither_panic_nor_overflow() {
    for (width, height) in [(0, 0), (0, 5), (u32::MAX, u32::MAX), (1 << 20, 1)] {
        assert_eq!(Image::from_base64(&png(width, height)).pixel_size(), None);
    }
    let edge = (1 << 20) - 1;
    for formula in [CLAUDE, GPT_4O, GPT_4_1_MINI, GEMINI_2_5] {
        assert!(tokens(formula, edge, edge) > 0);
    }
}

/// Heads at which format readers start.
const MAGIC: &[&[u8]] = &[
    b"\x89PNG\r\n\x1a\n",
    b"\xFF\xD8\xFF\xE1",
    b"GIF89a",
    b"RIFF\x10\0\0\0WEBPVP8 ",
    b"RIFF\x10\0\0\0WEBPVP8X",
    b"RIFF\x10\0\0\0WEBPVP8L",
    b"\0\0\0\x18ftypheic",
    b"\0\0\0\x18ftypavif",
];

proptest! {
    #[test]
    fn no_data_panics(magic in prop::sample::select(MAGIC.to_vec()), rest in prop::collection::vec(any::<u8>(), 0..600)) {
        let data = STANDARD_NO_PAD.encode([magic, &rest].concat());
        for formula in [ImageFormula::DataLength, CLAUDE, GPT_4O, GPT_4_1_MINI, GEMINI_2_5] {
            let _ = formula.count(&Image::from_base64(&data));
        }
    }

    #[test]
    fn no_text_panics(data in "\\PC{0,60}") {
        let _ = CLAUDE.count(&Image::from_base64(&data));
    }
}
