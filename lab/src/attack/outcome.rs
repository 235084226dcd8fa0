//! What a round comes to.

/// What was seen, if it was lost.
pub struct Loss(pub String);

pub type Outcome<T = ()> = Result<T, Loss>;

/// Whatever the attack itself cannot do is a loss too, or nobody would hear of it.
impl<E: std::error::Error> From<E> for Loss {
    fn from(error: E) -> Loss {
        Loss(format!("the attack itself: {error}"))
    }
}

/// Lost unless something holds.
macro_rules! ensure {
    ($holds:expr, $($what:tt)+) => {
        if !$holds {
            return Err($crate::attack::outcome::Loss(format!($($what)+)));
        }
    };
}

pub(super) use ensure;
