use super::*;
use flate2::Compression;
use proptest::prelude::*;

const CODINGS: [Coding; 4] = [Coding::Gzip, Coding::Deflate, Coding::Brotli, Coding::Zstd];

fn encode(coding: Coding, text: &[u8]) -> Vec<u8> {
    let finish = |writer: io::Result<Vec<u8>>| writer.unwrap();
    match coding {
        Coding::Gzip => {
            let mut encoder = flate2::write::GzEncoder::new(Vec::new(), Compression::default());
            encoder.write_all(text).unwrap();
            finish(encoder.finish())
        }
        Coding::Deflate => {
            let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), Compression::default());
            encoder.write_all(text).unwrap();
            finish(encoder.finish())
        }
        Coding::Brotli => {
            let mut out = Vec::new();
            brotli::BrotliCompress(
                &mut &*text,
                &mut out,
                &brotli::enc::BrotliEncoderParams { quality: 4, ..Default::default() },
            )
            .unwrap();
            out
        }
        Coding::Zstd => zstd::encode_all(text, 3).unwrap(),
    }
}

#[test]
fn raw_deflate_is_deflate_too() {
    let mut encoder = flate2::write::DeflateEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(br#"{"messages":[]}"#).unwrap();
    let coded = encoder.finish().unwrap();
    assert_eq!(decode(Coding::Deflate, &coded, 100), Ok(br#"{"messages":[]}"#.to_vec()));
}

#[test]
fn a_bomb_ends_at_the_bound() {
    let text = vec![b' '; 4_000_000];
    for coding in CODINGS {
        let coded = encode(coding, &text);
        assert!(coded.len() < 100_000, "{coding:?}: {}", coded.len());
        assert_eq!(decode(coding, &coded, text.len() - 1), Err(Undecodable::TooLarge), "{coding:?}");
        assert_eq!(decode(coding, &coded, text.len()).map(|text| text.len()), Ok(text.len()), "{coding:?}");
    }
}

#[test]
fn a_zstd_window_beyond_the_standard_is_refused() {
    let mut encoder = zstd::stream::write::Encoder::new(Vec::new(), 3).unwrap();
    encoder.window_log(27).unwrap();
    encoder.write_all(&vec![b'x'; 1 << 20]).unwrap();
    let coded = encoder.finish().unwrap();
    assert_eq!(decode(Coding::Zstd, &coded, 1 << 21), Err(Undecodable::Broken));
}

#[test]
fn names_of_codings_are_read() {
    let of = |value: &'static str| {
        let mut headers = HeaderMap::new();
        headers.insert(header::CONTENT_ENCODING, http::HeaderValue::from_static(value));
        Coding::of(&headers)
    };
    assert_eq!(Coding::of(&HeaderMap::new()), Ok(None));
    assert_eq!(of("identity"), Ok(None));
    assert_eq!(of("GZip"), Ok(Some(Coding::Gzip)));
    assert_eq!(of("identity, zstd"), Ok(Some(Coding::Zstd)));
    assert_eq!(of("gzip, br"), Err(UnknownCoding));
    assert_eq!(of("compress"), Err(UnknownCoding));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn text_comes_back_whole_and_a_torn_one_does_not(text in prop::collection::vec(any::<u8>(), 1..3000), torn in 1..50usize) {
        for coding in CODINGS {
            let coded = encode(coding, &text);
            prop_assert_eq!(decode(coding, &coded, 3000), Ok(text.clone()), "{:?}", coding);
            let torn = &coded[..coded.len() - torn.min(coded.len())];
            // Deflate does not say; what it decodes to is no JSON, either.
            if !torn.is_empty() && coding != Coding::Deflate {
                prop_assert_eq!(decode(coding, torn, 3000), Err(Undecodable::Broken), "{:?}", coding);
            }
        }
    }

    #[test]
    fn no_bytes_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        for coding in CODINGS {
            let _ = decode(coding, &bytes, 10_000);
        }
    }
}
