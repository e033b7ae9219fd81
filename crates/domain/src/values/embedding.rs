//! Embeddings: vectors of texts, the closer together the more similar the meanings.

/// A vector of length 1, stored as one byte per value.
#[derive(Clone, Debug, PartialEq)]
pub struct Embedding {
    /// The factor by which the stored values are multiplied.
    scale: f32,
    values: Box<[i8]>,
}

impl Embedding {
    /// The direction of `vector`; `None` if it has none, or holds a value that is not finite.
    pub fn of(vector: &[f32]) -> Option<Self> {
        let largest = vector.iter().fold(0_f32, |largest, value| largest.max(value.abs()));
        if largest == 0.0 || !vector.iter().all(|value| value.is_finite()) {
            return None;
        }
        let rounded = |value: &f32| (value / largest * f32::from(i8::MAX)).round() as i8;
        Some(Self::from_values(vector.iter().map(rounded).collect()))
    }

    /// The embedding with these [values](Self::values).
    pub fn from_values(values: Box<[i8]>) -> Self {
        let length = dot(&values, &values).sqrt();
        Self { scale: if length == 0.0 { 0.0 } else { (1.0 / length) as f32 }, values }
    }

    /// The stored values; their overall length does not matter.
    pub fn values(&self) -> &[i8] {
        &self.values
    }

    /// The cosine of the angle to `other`: 1 for the same direction, about 0 for nothing in common, and never
    /// below -1. `None` if `other` has a different number of values: it is then from another model.
    pub fn cosine(&self, other: &Self) -> Option<f32> {
        let alike = self.values.len() == other.values.len();
        let cosine = || dot(&self.values, &other.values) as f32 * (self.scale * other.scale);
        alike.then(|| cosine().clamp(-1.0, 1.0))
    }

    /// The approximate memory in bytes.
    pub fn memory_bytes(&self) -> usize {
        size_of::<Self>() + self.values.len() + 16
    }
}

/// Products fit in 16 bits, and their sums in 32: a form that processors can vectorise.
fn dot(one: &[i8], other: &[i8]) -> f64 {
    let product = |(one, other): (&i8, &i8)| i32::from(i16::from(*one) * i16::from(*other));
    f64::from(one.iter().zip(other).map(product).sum::<i32>())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn cosine(one: &[f32], other: &[f32]) -> f32 {
        let dot = |one: &[f32], other: &[f32]| one.iter().zip(other).map(|(a, b)| a * b).sum::<f32>();
        dot(one, other) / (dot(one, one) * dot(other, other)).sqrt()
    }

    fn vector() -> impl Strategy<Value = Vec<f32>> {
        let some = |vector: &Vec<f32>| vector.iter().any(|value| value.abs() > 0.1);
        proptest::collection::vec(-1_f32..1.0, 48).prop_filter("it has a direction", some)
    }

    proptest! {
        #[test]
        fn a_cosine_is_nearly_that_of_the_numbers(one in vector(), other in vector()) {
            let [a, b] = [&one, &other].map(|vector| Embedding::of(vector).unwrap());
            prop_assert!((a.cosine(&b).unwrap() - cosine(&one, &other)).abs() < 0.02);
            prop_assert_eq!(a.cosine(&b), b.cosine(&a));
            prop_assert!((a.cosine(&a).unwrap() - 1.0).abs() < 1e-5);
        }

        #[test]
        fn its_values_are_all_of_it(one in vector(), length in 1e-20_f32..1e20) {
            let embedding = Embedding::of(&one).unwrap();
            prop_assert_eq!(&Embedding::from_values(embedding.values().into()), &embedding);
            let longer = one.iter().map(|value| value * length).collect::<Vec<_>>();
            let longer = Embedding::of(&longer).unwrap();
            prop_assert!(longer.cosine(&embedding).unwrap() > 0.999);
        }
    }

    #[test]
    fn what_has_no_direction_is_none() {
        for none in [&[][..], &[0.0, 0.0], &[1.0, f32::NAN], &[f32::INFINITY, 0.0]] {
            assert_eq!(Embedding::of(none), None, "{none:?}");
        }
        let (one, other) = (Embedding::of(&[1.0, 0.0]).unwrap(), Embedding::of(&[1.0, 0.0, 0.0]).unwrap());
        assert_eq!(one.cosine(&other), None);
        assert_eq!(one.cosine(&Embedding::of(&[-2.0, 0.0]).unwrap()), Some(-1.0));
    }
}
