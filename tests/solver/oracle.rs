//! Two independent ways to the optimum of the additive model.

use galley::engine::search::additive::Instance;
use galley::engine::{Action, Bytes};
use good_lp::{Expression, ProblemVariables, Solution, SolverModel, constraint, microlp, variable};

/// The least objective of all plans that fit; infinite where none does.
pub fn brute_force(instance: &Instance) -> f64 {
    let n = instance.layers.len();
    let mut actions = vec![Action::Keep; n];
    let mut best = f64::INFINITY;
    for code in 0..4_usize.pow(u32::try_from(n).expect("few layers")) {
        for (i, action) in actions.iter_mut().enumerate() {
            *action = Action::ALL[code >> (2 * i) & 3];
        }
        let cost = instance.cost(&actions);
        if cost.fits && cost.objective_s < best {
            best = cost.objective_s;
        }
    }
    best
}

/// The same by good_lp and microlp, bytes in shares of their total; none where no plan fits.
pub fn milp(instance: &Instance) -> Option<f64> {
    let total: u64 = instance.layers.iter().map(|layer| layer.size).sum();
    let total = Bytes(total.max(1)).as_f64();
    let share = |bytes: u64| Bytes(bytes).as_f64() / total;
    let mut variables = ProblemVariables::new();
    let exposed = variables.add(variable().min(0.0));
    let mut cost: Expression = exposed.into();
    let [mut memory, mut host, mut ssd] = [(); 3].map(|()| Expression::default());
    let mut one_each = Vec::new();
    for layer in &instance.layers {
        let [keep, recompute, to_host, to_ssd] =
            [(); 4].map(|()| variables.add(variable().binary()));
        let (size, residual) = (share(layer.size), share(layer.residual));
        memory += size * keep + residual * recompute;
        host += size * to_host;
        ssd += size * to_ssd;
        cost += layer.recompute_s * recompute;
        one_each.push(constraint!(keep + recompute + to_host + to_ssd == 1.0));
    }
    let (link_s, ssd_s) = (instance.link_s * total, instance.ssd_s * total);
    let mut model = variables
        .minimise(cost.clone())
        .using(microlp)
        .with(constraint!(memory <= share(instance.memory)))
        .with(constraint!(host.clone() <= share(instance.host)))
        .with(constraint!(link_s * (host + ssd.clone()) - exposed <= instance.hidden_s))
        .with(constraint!(ssd_s * ssd.clone() - exposed <= instance.hidden_s));
    if let Some(limit) = instance.ssd {
        model = model.with(constraint!(ssd <= share(limit)));
    }
    let solved = one_each.into_iter().fold(model, SolverModel::with).solve().ok()?;
    Some(solved.eval(cost))
}
