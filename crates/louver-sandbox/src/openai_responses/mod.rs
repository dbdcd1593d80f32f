mod judge;

pub(crate) use judge::judge;
