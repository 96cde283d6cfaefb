//! Values that nobody uses.

use crate::program::{Block, Expr, Program, Stmt, Value};

/// Drops each `Let` whose value nothing that stays takes. What may fault or stores stays.
pub(super) fn drop_unused(program: &Program, body: &mut Block) {
    let mut used = vec![false; program.values.len()];
    sweep(body, &mut used);
}

/// From the last statement to the first, so that each value's uses are known before it.
fn sweep(block: &mut Block, used: &mut [bool]) {
    let mut at = block.len();
    while at > 0 {
        at -= 1;
        match &mut block[at] {
            Stmt::Let(v, expr) => {
                let (wanted, expr) = (used[v.0 as usize], *expr);
                if wanted {
                    mark(&expr, used);
                }
            }
            stmt => inner(stmt, used),
        }
    }
    block.retain(|s| !matches!(s, Stmt::Let(v, _) if !used[v.0 as usize]));
}

fn mark(expr: &Expr, used: &mut [bool]) {
    expr.operands(|v| used[v.0 as usize] = true);
}

fn inner(stmt: &mut Stmt, used: &mut [bool]) {
    let mark = |v: Value, used: &mut [bool]| used[v.0 as usize] = true;
    match stmt {
        Stmt::Set(_, v) => mark(*v, used),
        Stmt::If { cond, then, otherwise } => {
            sweep(then, used);
            sweep(otherwise, used);
            mark(*cond, used);
        }
        Stmt::Loop { body } => sweep(body, used),
        Stmt::Load { access, .. } => [access.address, access.valid].into_iter().for_each(|v| mark(v, used)),
        Stmt::Store { src, access } => {
            src.iter().copied().chain([access.address, access.valid]).for_each(|v| mark(v, used));
        }
        Stmt::Atomic { data, compare, access, .. } => {
            let all = [*data, access.address, access.valid].into_iter().chain(*compare);
            all.for_each(|v| mark(v, used));
        }
        _ => {}
    }
}
