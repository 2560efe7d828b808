//! Modules `heapq` and `bisect`: what their functions of C do to a list, by definitions, as they compare its items.

use super::Executor;
use crate::stop::Stop;
use crate::variables::*;

/// From so many items on a heap is made in another order.
const LARGE: usize = 2500;

impl<'py> Executor<'py> {
    /// A function of module `_heapq` or `_bisect`; `None`: it is something else.
    pub(super) fn enter_heap_or_bisect(
        &mut self,
        module: &str,
        name: &str,
        args: &Args,
    ) -> Result<Option<Called>, Stop> {
        match module {
            "_heapq" if args.keywords.is_empty() => self.enter_heap(name, &args.positional),
            "_bisect" => self.enter_bisect(name, args),
            _ => Ok(None),
        }
    }

    fn enter_heap(&mut self, name: &str, args: &[VarId]) -> Result<Option<Called>, Stop> {
        let [heap, rest @ ..] = args else { return Ok(None) };
        let VarKind::List(list) = self.look(*heap)? else { return Ok(None) };
        if list.class.is_some() {
            return Ok(None);
        }
        let greatest = name.ends_with("_max");
        let (greatest, zero, none) = (self.fold_bool(greatest)?, self.fold_int(0)?, self.fold_none()?);
        match (name.trim_start_matches('_').trim_end_matches("_max"), rest) {
            ("heappush", [item]) => {
                self.list_method(*heap, &list, "append", &Args::positional(vec![*item]))?;
                self.enter("heap_pushed", &[*heap, greatest]).map(Some)
            }
            ("heappop", []) if !list.items.is_empty() => {
                let last = self.list_method(*heap, &list, "pop", &Args::default())?;
                let Some(first) = list.items.first().filter(|_| list.items.len() > 1).copied() else {
                    return Ok(Some(Called::Value(last)));
                };
                self.set_item(*heap, zero, last)?;
                self.enter("heap_sifted", &[*heap, zero, greatest, first]).map(Some)
            }
            ("heapreplace", [item]) if !list.items.is_empty() => {
                let first = list.items[0];
                self.set_item(*heap, zero, *item)?;
                self.enter("heap_sifted", &[*heap, zero, greatest, first]).map(Some)
            }
            ("heappushpop", [item]) if name == "heappushpop" => {
                self.enter("heap_push_popped", &[*heap, *item]).map(Some)
            }
            ("heapify", []) if list.items.len() <= LARGE => {
                let last = self.fold_int((list.items.len() / 2) as i64 - 1)?;
                self.enter("heap_sifted", &[*heap, last, greatest, none]).map(Some)
            }
            _ => Ok(None),
        }
    }

    fn enter_bisect(&mut self, name: &str, args: &Args) -> Result<Option<Called>, Stop> {
        let (right, insert) = match name {
            "bisect_left" => (false, false),
            "bisect_right" => (true, false),
            "insort_left" => (false, true),
            "insort_right" => (true, true),
            _ => return Ok(None),
        };
        let [sequence, item, bounds @ ..] = args.positional.as_slice() else { return Ok(None) };
        if bounds.len() > 2 {
            return Ok(None);
        }
        let (mut low, mut high, mut key) = (bounds.first().copied(), bounds.get(1).copied(), None);
        for (name, value) in &args.keywords {
            let place = match name.as_str() {
                "lo" => &mut low,
                "hi" => &mut high,
                "key" => &mut key,
                _ => return Ok(None),
            };
            if place.replace(*value).is_some() {
                return Ok(None);
            }
        }
        // 3.8 and 3.9 know no key, and say so.
        if key.is_some() && self.py.version_info() < (3, 10) {
            return Ok(None);
        }
        match self.look(*sequence)? {
            VarKind::List(ListVar { class: None, .. }) => {}
            VarKind::Tuple(TupleVar { class: None, .. }) if !insert => {}
            _ => return Ok(None),
        }
        for bound in low.iter().chain(&high) {
            if !matches!(self.look(*bound)?, VarKind::Constant(_)) || self.constant_int(*bound).is_none_or(|n| n < 0) {
                return Ok(None);
            }
        }
        let (zero, none) = (self.fold_int(0)?, self.fold_none()?);
        let (right, insert) = (self.fold_bool(right)?, self.fold_bool(insert)?);
        let (low, high, key) = (low.unwrap_or(zero), high.unwrap_or(none), key.unwrap_or(none));
        self.enter("bisected", &[*sequence, *item, low, high, key, right, insert]).map(Some)
    }
}
