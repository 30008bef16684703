/** Adds fault plans in tests and reads their state, through the control listener. */
import type { TestServer } from '../../testing/test-server.ts';
import { control } from '../../testing/test-tenants.ts';

/** A rule of a plan. Its `id` is `fault` by default. */
type PlannedRuleInput = Readonly<Record<string, unknown>>;

interface RuleCounts {
  readonly id: string;
  readonly matched: number;
  readonly fired: number;
  readonly left: number | null;
}

/**
 * Adds rules to a tenant.
 * @throws Error if the plan is refused
 */
export async function plan(
  server: TestServer,
  rules: PlannedRuleInput | readonly PlannedRuleInput[],
  tenant?: string,
): Promise<void> {
  const all = [rules].flat().map((rule) => ({ id: 'fault', ...rule }));
  const query = tenant === undefined ? '' : `?tenant=${tenant}`;
  const response = await control(server, 'POST', `/faults${query}`, { rules: all });
  if (response.status !== 201) throw new Error(`the plan was refused: ${response.text}`);
}

/**
 * Returns the state of a rule, by default the one with the ID `fault`.
 * @throws Error if there is no such rule
 */
export async function ruleCounts(server: TestServer, id = 'fault'): Promise<RuleCounts> {
  const { text } = await control(server, 'GET', '/faults');
  const { rules } = JSON.parse(text) as { rules: RuleCounts[] };
  const namedRule = rules.find((rule) => rule.id === id);
  if (!namedRule) throw new Error(`there is no rule ${id}`);
  return namedRule;
}

/** Asks the control listener whether every planned fault has fired. */
export async function check(server: TestServer): Promise<{ status: number; unfired: object[] }> {
  const { status, text } = await control(server, 'GET', '/faults/check');
  return { status, unfired: (JSON.parse(text) as { unfired: object[] }).unfired };
}

const ROUND_TRIPS_MAX = 1000;

/** Polls, a limited number of times, until the rule has fired `times` times. */
export async function hasFired(server: TestServer, times = 1): Promise<void> {
  for (let trip = 0; trip < ROUND_TRIPS_MAX; trip += 1) {
    if ((await ruleCounts(server)).fired >= times) return;
  }
  throw new Error('the fault never fired');
}
