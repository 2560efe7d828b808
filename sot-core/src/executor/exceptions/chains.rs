//! `__context__` and `__cause__`: what an exception was raised beside, and from.

use crate::executor::Executor;
use crate::stop::Stop;
use crate::variables::*;

impl Executor<'_> {
    /// `raise exception`: what is being handled becomes its context.
    pub fn set_context(&mut self, exception: VarId) {
        match self.handled() {
            Some(context) => self.chain_context(exception, context),
            None => self.change_exception(exception, |state| state.context_of_caller = state.context.is_none()),
        }
    }

    pub(super) fn chain_context(&mut self, exception: VarId, context: VarId) {
        if context == exception {
            return;
        }
        match &self.var(exception).kind {
            VarKind::Exception(ExceptionVar { object: None, .. }) => {
                // A cycle would be cut: the exception may be in the context's own chain.
                self.cut_context(context, exception);
                self.change_exception(exception, |state| state.context = Some(context));
            }
            VarKind::Exception(_) => self.journal_record(sot_sideeffect::Mutation::SetAttr {
                object: Self::var_ref(exception),
                name: "__context__".into(),
                value: Self::var_ref(context),
            }),
            _ => {}
        }
    }

    /// Whether raising an exception from before would have to look for it in a chain of contexts that only exists at run time:
    /// it is taken out there, before what is handled becomes its own context.
    pub fn may_close_a_circle(&self, exception: VarId) -> bool {
        let real = |var: VarId| matches!(&self.var(var).kind, VarKind::Exception(e) if e.object.is_some());
        let mut at = self.handled().filter(|context| *context != exception && real(exception));
        for _ in 0..1000 {
            let Some(context) = at else { return false };
            if real(context) {
                return true;
            }
            at = match &self.var(context).kind {
                VarKind::Exception(e) => e.state.context,
                _ => None,
            };
        }
        true
    }

    /// Take `exception` out of the chain of contexts that begins at `first`.
    fn cut_context(&mut self, first: VarId, exception: VarId) {
        let mut at = first;
        for _ in 0..1000 {
            let next = match &self.var(at).kind {
                VarKind::Exception(e) => e.state.context,
                _ => None,
            };
            match next {
                Some(next) if next == exception => {
                    self.change_exception(at, |state| state.context = None);
                    return;
                }
                Some(next) => at = next,
                None => return,
            }
        }
    }

    /// `raise exception from cause`.
    pub fn set_cause(&mut self, exception: VarId, cause: Option<VarId>) -> Result<(), Stop> {
        match &self.var(exception).kind {
            VarKind::Exception(ExceptionVar { object: None, .. }) => {
                self.change_exception(exception, |state| state.cause = Some(cause));
                Ok(())
            }
            _ => {
                let cause = cause.map_or_else(|| self.fold_none(), Ok)?;
                self.journal_record(sot_sideeffect::Mutation::SetAttr {
                    object: Self::var_ref(exception),
                    name: "__cause__".into(),
                    value: Self::var_ref(cause),
                });
                Ok(())
            }
        }
    }
}
