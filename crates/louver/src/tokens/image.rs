//! Tokens of images: by pixel size where the provider publishes a formula.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use serde::Deserialize;

use super::amount::{Factor, Millitokens};

/// An image, or another binary attachment, as a message holds it.
///
/// ```
/// use louver::tokens::{Image, ImageFormula};
///
/// let data = "A".repeat(1000);
/// let image = Image::from_base64(&data);
/// assert_eq!(ImageFormula::DataLength.count(&image).ceil_tokens(), 48);
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Image<'a> {
    /// The data in base64, without a `data:` prefix; empty when the message holds a link.
    pub base64: &'a str,
    /// Whether the message links to the image instead of holding it.
    pub url: bool,
    /// The resolution that the message asks for.
    pub detail: Option<Detail>,
    /// The declared media type, such as `image/png`.
    pub media_type: Option<&'a str>,
}

impl<'a> Image<'a> {
    /// An image held as base64, about which nothing else is known.
    #[must_use]
    pub const fn from_base64(base64: &'a str) -> Self {
        Self { base64, url: false, detail: None, media_type: None }
    }

    /// A link to an image, whose size nobody knows without fetching it.
    #[must_use]
    pub const fn from_url() -> Self {
        Self { base64: "", url: true, detail: None, media_type: None }
    }

    /// Width and height, read from the head of the data.
    ///
    /// At most 512 KiB are decoded, and only for attachments not declared as something else
    /// than an image. `None` for links, documents, sound, and data that is no image.
    ///
    /// ```
    /// use louver::tokens::Image;
    ///
    /// let png = "iVBORw0KGgoAAAANSUhEUgAAAAMAAAACCAYAAACddGYaAAAA";
    /// assert_eq!(Image::from_base64(png).pixel_size(), Some((3, 2)));
    /// assert_eq!(Image::from_base64("JVBERi0xLjQK").pixel_size(), None);
    /// ```
    #[must_use]
    pub fn pixel_size(&self) -> Option<(u64, u64)> {
        if self.media_type.is_some_and(|media_type| !media_type.starts_with("image/")) {
            return None;
        }
        // Most formats say it at once; a JPEG may have a thumbnail and profiles before it.
        let heads = [1 << 10, 1 << 16, 1 << 19];
        heads.iter().enumerate().find_map(|(index, &limit)| {
            let seen = index > 0 && self.base64.len() <= heads[index - 1];
            if seen { None } else { size_in_head(self.base64, limit) }
        })
    }
}

/// The resolution in which a message asks for an image to be read. "Auto" is no request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Detail {
    /// Coarse and cheap.
    Low,
    /// Between; only Gemini has it.
    Medium,
    /// Fine.
    High,
    /// As it is, unscaled as far as the model can read it.
    Original,
}

impl Detail {
    /// Reads the word that a wire format uses; `None` for `auto` and words nobody knows.
    ///
    /// ```
    /// use louver::tokens::Detail;
    ///
    /// assert_eq!(Detail::from_word("low"), Some(Detail::Low));
    /// assert_eq!(Detail::from_word("MEDIA_RESOLUTION_HIGH"), Some(Detail::High));
    /// assert_eq!(Detail::from_word("auto"), None);
    /// ```
    #[must_use]
    pub fn from_word(word: &str) -> Option<Self> {
        match word {
            "low" | "MEDIA_RESOLUTION_LOW" => Some(Self::Low),
            "medium" | "MEDIA_RESOLUTION_MEDIUM" => Some(Self::Medium),
            "high" | "MEDIA_RESOLUTION_HIGH" => Some(Self::High),
            "original" | "MEDIA_RESOLUTION_ULTRA_HIGH" => Some(Self::Original),
            _ => None,
        }
    }
}

/// How a provider turns an image into tokens. The numbers are data of the model catalogue.
///
/// A link is taken for an image of 1024 by 1024 pixels where a formula needs pixels, and for
/// nothing by [`DataLength`](Self::DataLength). Data whose pixel size cannot be read
/// (documents, sound) counts by its length under every formula.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(tag = "formula", rename_all = "kebab-case", deny_unknown_fields)]
#[non_exhaustive]
pub enum ImageFormula {
    /// One and a half times the root of the length of the base64, for want of better.
    DataLength,
    /// Anthropic: width times height over 750, after scaling down to the longest edge and
    /// the most tokens that the model takes.
    Area {
        /// The longest edge in pixels.
        max_edge: u64,
        /// The most tokens of one image.
        max_tokens: u64,
    },
    /// OpenAI, GPT-4o and alike: a base, and a price per tile of 512 pixels after scaling
    /// into 2048 by 2048 and the shorter side to 768. Low detail is the base alone.
    Tiles512 {
        /// Tokens of every image.
        base: u64,
        /// Tokens per tile.
        tile: u64,
    },
    /// OpenAI, newer models: patches of 32 pixels, scaled down to at most so many, times a
    /// factor of the model.
    Patches32 {
        /// The most patches at high detail.
        max_patches: u64,
        /// The most patches at original detail.
        max_original: u64,
        /// The factor in thousandths.
        factor_thousandths: u32,
    },
    /// Gemini up to 2.5: a price per tile of 768 pixels; up to 384 by 384 is one tile.
    Tiles768 {
        /// Tokens per tile.
        tile: u64,
    },
    /// Gemini 3 and later: a fixed price by detail, whatever the pixels.
    Flat {
        /// Tokens at low detail.
        low: u64,
        /// Tokens at medium detail.
        medium: u64,
        /// Tokens at high detail, and where none is asked for.
        high: u64,
        /// Tokens at the finest detail.
        original: u64,
    },
}

/// What a linked image is taken for: it is sent, so it cannot count as nothing.
const LINKED_SIZE: (u64, u64) = (1024, 1024);

/// Low detail of models that read patches: a picture of 512 by 512 pixels.
const LOW_PATCHES: u64 = 256;

impl ImageFormula {
    /// Tokens of `image`: whole ones, as providers bill.
    ///
    /// ```
    /// use louver::tokens::{Detail, Image, ImageFormula};
    ///
    /// let formula = ImageFormula::Tiles512 { base: 85, tile: 170 };
    /// let link = Image::from_url();
    /// assert_eq!(formula.count(&link).ceil_tokens(), 765);
    /// let low = Image { detail: Some(Detail::Low), ..link };
    /// assert_eq!(formula.count(&low).ceil_tokens(), 85);
    /// ```
    #[must_use]
    pub fn count(&self, image: &Image<'_>) -> Millitokens {
        if let Some(tokens) = self.by_detail(image.detail) {
            return Millitokens::from_tokens(tokens);
        }
        let linked = image.url && image.base64.is_empty();
        let size = if linked { Some(LINKED_SIZE) } else { image.pixel_size() };
        match size.and_then(|(width, height)| self.by_pixels(width, height, image.detail)) {
            Some(tokens) => Millitokens::from_tokens(tokens),
            None => by_data_length(image.base64.len() as u64),
        }
    }

    /// Where the detail alone decides.
    fn by_detail(&self, detail: Option<Detail>) -> Option<u64> {
        match (*self, detail) {
            (Self::Tiles512 { base, .. }, Some(Detail::Low)) => Some(base),
            (Self::Flat { low, .. }, Some(Detail::Low)) => Some(low),
            (Self::Flat { medium, .. }, Some(Detail::Medium)) => Some(medium),
            (Self::Flat { original, .. }, Some(Detail::Original)) => Some(original),
            _ => None,
        }
    }

    /// By the pixels of an image; `None` where the formula does not look at them.
    fn by_pixels(&self, width: u64, height: u64, detail: Option<Detail>) -> Option<u64> {
        match *self {
            Self::DataLength => None,
            Self::Area { max_edge, max_tokens } => Some(area_tokens(width, height, max_edge).min(max_tokens)),
            Self::Tiles512 { base, tile } => Some(base + tile * tiles_512(width, height)),
            Self::Patches32 { max_patches, max_original, factor_thousandths } => {
                let most = match detail {
                    Some(Detail::Low) => LOW_PATCHES,
                    Some(Detail::Original) => max_original,
                    _ => max_patches,
                };
                let patches = Millitokens::from_tokens(patches_32(width, height, most));
                Some(patches.scaled(Factor::from_thousandths(factor_thousandths)).ceil_tokens())
            }
            Self::Tiles768 { tile } if width <= 384 && height <= 384 => Some(tile),
            Self::Tiles768 { tile } => Some(tile * width.div_ceil(768) * height.div_ceil(768)),
            Self::Flat { high, .. } => Some(high),
        }
    }
}

/// `ceil(sqrt(length)) * 1.5`, rounded up.
pub(super) fn by_data_length(base64_length: u64) -> Millitokens {
    let floor = base64_length.isqrt();
    let root = if floor * floor == base64_length { floor } else { floor + 1 };
    Millitokens::from_tokens((root * 3).div_ceil(2))
}

fn area_tokens(width: u64, height: u64, max_edge: u64) -> u64 {
    let (width, height) = fit(width, height, width.max(height), max_edge);
    (width * height).div_ceil(750)
}

fn tiles_512(width: u64, height: u64) -> u64 {
    let (width, height) = fit(width, height, width.max(height), 2048);
    let (width, height) = fit(width, height, width.min(height), 768);
    width.div_ceil(512) * height.div_ceil(512)
}

/// Scales down so that `edge` becomes `limit`; never up, and no side below one pixel.
fn fit(width: u64, height: u64, edge: u64, limit: u64) -> (u64, u64) {
    if edge <= limit {
        return (width, height);
    }
    let scale = |side: u64| ((side * limit + edge / 2) / edge).max(1);
    (scale(width), scale(height))
}

/// Patches of 32 pixels; above `most`, the picture is scaled down until whole patches fit.
///
/// Floats are safe here: multiplication, division and square root are exactly defined.
fn patches_32(width: u64, height: u64, most: u64) -> u64 {
    let patches = width.div_ceil(32) * height.div_ceil(32);
    if patches <= most {
        return patches;
    }
    let (wide, high) = (width as f64 / 32.0, height as f64 / 32.0);
    let shrink = (most as f64 / (wide * high)).sqrt();
    let (wide, high) = (wide * shrink, high * shrink);
    let whole = |side: f64| side.floor().max(1.0) / side;
    let shrink = whole(wide).min(whole(high));
    let count = |side: f64| (side * shrink - 1e-6).ceil().max(1.0) as u64;
    (count(wide) * count(high)).min(most)
}

/// The pixel size in the first `limit` characters of base64.
fn size_in_head(base64: &str, limit: usize) -> Option<(u64, u64)> {
    let bytes = STANDARD_NO_PAD.decode(alphabet_prefix(base64, limit)).ok()?;
    let size = imagesize::blob_size(&bytes).ok()?;
    // No provider takes an edge of 2^20 pixels: such a header lies.
    let sane = |side: usize| (1..1 << 20).contains(&side);
    (sane(size.width) && sane(size.height)).then_some((size.width as u64, size.height as u64))
}

/// Whole groups of four from the head of `base64`. JSON escapes of `/`, line breaks and the
/// URL alphabet are read through; anything else ends the head.
fn alphabet_prefix(base64: &str, limit: usize) -> Vec<u8> {
    let head = base64.bytes().take(limit).filter(|byte| !matches!(byte, b'\\' | b'\n' | b'\r'));
    let plain = head.map(|byte| match byte {
        b'-' => b'+',
        b'_' => b'/',
        _ => byte,
    });
    let mut prefix: Vec<u8> =
        plain.take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/')).collect();
    prefix.truncate(prefix.len() / 4 * 4);
    prefix
}

#[cfg(test)]
#[path = "image_tests.rs"]
mod tests;
