//! Content codings: gzip, deflate, br and zstd, decoded as they come.

use brotli_decompressor::DecompressorWriter;
use flate2::write::{DeflateDecoder, MultiGzDecoder, ZlibDecoder};
use http::{HeaderMap, header};
use std::fmt;
use std::io::{self, Write};

/// Room for decoded bytes before they are handed on.
const BUFFER: usize = 16 * 1024;

/// The largest window that zstd may use over HTTP (RFC 9659): 8 MiB.
const MAX_ZSTD_WINDOW_LOG: u32 = 23;

/// A content coding that can be undone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Coding {
    Gzip,
    Deflate,
    Brotli,
    Zstd,
}

/// A coding that cannot be undone. Several on top of each other cannot, either: nobody sends them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct UnknownCoding;

impl Coding {
    /// The coding that headers name.
    pub(crate) fn of(headers: &HeaderMap) -> Result<Option<Self>, UnknownCoding> {
        let mut coding = None;
        for value in headers.get_all(header::CONTENT_ENCODING) {
            for name in value.to_str().map_err(|_| UnknownCoding)?.split(',').map(str::trim) {
                let named = Self::named(name)?;
                if named.is_some() && coding.is_some() {
                    return Err(UnknownCoding);
                }
                coding = coding.or(named);
            }
        }
        Ok(coding)
    }

    fn named(name: &str) -> Result<Option<Self>, UnknownCoding> {
        match name.to_ascii_lowercase().as_str() {
            "" | "identity" => Ok(None),
            "gzip" | "x-gzip" => Ok(Some(Self::Gzip)),
            "deflate" => Ok(Some(Self::Deflate)),
            "br" => Ok(Some(Self::Brotli)),
            "zstd" => Ok(Some(Self::Zstd)),
            _ => Err(UnknownCoding),
        }
    }
}

/// Coded bytes in, decoded bytes into a sink.
pub(crate) enum Decoder<W: Write> {
    Plain(W),
    Gzip(Box<MultiGzDecoder<W>>),
    /// `deflate` means two things, and the first byte shows which; the sink waits for it.
    Undecided(Option<W>),
    Zlib(Box<ZlibDecoder<W>>),
    Deflate(Box<DeflateDecoder<W>>),
    Brotli(Box<DecompressorWriter<W>>),
    Zstd(Box<zstd::stream::write::Decoder<'static, W>>),
}

impl<W: Write> Decoder<W> {
    pub(crate) fn new(coding: Option<Coding>, sink: W) -> io::Result<Self> {
        Ok(match coding {
            None => Self::Plain(sink),
            Some(Coding::Gzip) => Self::Gzip(Box::new(MultiGzDecoder::new(sink))),
            Some(Coding::Deflate) => Self::Undecided(Some(sink)),
            Some(Coding::Brotli) => Self::Brotli(Box::new(DecompressorWriter::new(sink, BUFFER))),
            Some(Coding::Zstd) => {
                let mut decoder = zstd::stream::raw::Decoder::new()?;
                decoder.set_parameter(zstd::stream::raw::DParameter::WindowLogMax(MAX_ZSTD_WINDOW_LOG))?;
                Self::Zstd(Box::new(zstd::stream::write::Decoder::with_decoder(sink, decoder)))
            }
        })
    }

    /// Where the decoded bytes go; `None` only within a call that failed.
    pub(crate) fn sink(&mut self) -> Option<&mut W> {
        match self {
            Self::Plain(sink) => Some(sink),
            Self::Undecided(sink) => sink.as_mut(),
            Self::Gzip(decoder) => Some(decoder.get_mut()),
            Self::Zlib(decoder) => Some(decoder.get_mut()),
            Self::Deflate(decoder) => Some(decoder.get_mut()),
            Self::Brotli(decoder) => Some(decoder.get_mut()),
            Self::Zstd(decoder) => Some(decoder.get_mut()),
        }
    }

    /// Ends the text; an error if it is not whole.
    pub(crate) fn finish(self) -> io::Result<W> {
        let cut_off = || io::Error::from(io::ErrorKind::UnexpectedEof);
        match self {
            Self::Plain(sink) => Ok(sink),
            Self::Undecided(sink) => sink.ok_or_else(cut_off),
            Self::Gzip(decoder) => decoder.finish(),
            Self::Zlib(decoder) => decoder.finish(),
            Self::Deflate(decoder) => decoder.finish(),
            Self::Brotli(decoder) => decoder.into_inner().map_err(|_| cut_off()),
            Self::Zstd(decoder) => decoder.finish(),
        }
    }

    /// A zlib header's first byte names method 8 and a window of at most 32 KiB; raw deflate hardly ever starts so.
    fn settle(&mut self, first: u8) {
        if let Self::Undecided(sink) = self
            && let Some(sink) = sink.take()
        {
            let is_zlib = first & 0x0f == 8 && first >> 4 <= 7;
            *self = if is_zlib {
                Self::Zlib(Box::new(ZlibDecoder::new(sink)))
            } else {
                Self::Deflate(Box::new(DeflateDecoder::new(sink)))
            };
        }
    }

    /// Writes, by whichever decoder it is.
    fn with<T>(&mut self, write: impl FnOnce(&mut dyn Write) -> io::Result<T>) -> io::Result<T>
    where
        W: 'static,
    {
        match self {
            Self::Plain(sink) => write(sink),
            Self::Undecided(_) => write(&mut io::sink()),
            Self::Gzip(decoder) => write(decoder),
            Self::Zlib(decoder) => write(decoder),
            Self::Deflate(decoder) => write(decoder),
            Self::Brotli(decoder) => write(decoder),
            Self::Zstd(decoder) => write(decoder),
        }
    }
}

impl<W: Write + 'static> Write for Decoder<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if let Some(&first) = bytes.first() {
            self.settle(first);
        }
        self.with(|writer| writer.write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.with(|writer| writer.flush())
    }
}

impl<W: Write> fmt::Debug for Decoder<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Decoder").finish_non_exhaustive()
    }
}

/// Why a text could not be decoded.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Undecodable {
    /// It is longer than the bound, decoded.
    TooLarge,
    /// It is not what its coding says.
    Broken,
}

/// Decodes a whole text of at most so many bytes.
pub(crate) fn decode(coding: Coding, coded: &[u8], max_bytes: usize) -> Result<Vec<u8>, Undecodable> {
    let sink = Sink { bytes: Vec::new(), max_bytes, is_full: false };
    let mut decoder = Decoder::new(Some(coding), sink).map_err(|_| Undecodable::Broken)?;
    let written = decoder.write_all(coded).and_then(|()| decoder.flush());
    if decoder.sink().is_some_and(|sink| sink.is_full) {
        return Err(Undecodable::TooLarge);
    }
    written.map_err(|_| Undecodable::Broken)?;
    let sink = decoder.finish().map_err(|_| Undecodable::Broken)?;
    if sink.is_full { Err(Undecodable::TooLarge) } else { Ok(sink.bytes) }
}

/// Takes so many bytes and no more.
struct Sink {
    bytes: Vec<u8>,
    max_bytes: usize,
    is_full: bool,
}

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.is_full || bytes.len() > self.max_bytes - self.bytes.len() {
            self.is_full = true;
            return Err(io::Error::other("more than is taken"));
        }
        self.bytes.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests;
