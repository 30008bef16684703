/** Checks invented exchanges against the passive checks, for the tests of the passive checks. */
import { type OperationId, operations } from '../../fixtures/contract/operations.ts';
import { vendorNames } from '../../fixtures/contract/vendor-names.ts';
import { SuiteTrafficJudge } from '../passive/suite-traffic-judge.ts';
import { exchangeOf } from '../target/exchange.ts';

const base = 'http://host:8080/prefix';
const names = vendorNames('X-SVC');

/** The optional parts of an invented exchange. */
export interface InventedParts {
  readonly sent?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly path?: string;
  readonly request?: string;
  readonly plansFaults?: boolean;
}

/** An exchange that no server had, as a request and its response. */
export type InventedExchange = readonly [
  operation: OperationId,
  status: number,
  given?: InventedParts,
];

/** Returns the violations in the exchanges, each as `requirement: text`. */
export function violationsIn(steps: readonly InventedExchange[]): readonly string[] {
  const judge = new SuiteTrafficJudge(base, names);
  return steps.flatMap(([id, status, given = {}]) => {
    const { sent = {}, body, headers = {}, path, request, plansFaults } = given;
    const text = body === undefined ? '' : typeof body === 'string' ? body : JSON.stringify(body);
    const label = typeof body === 'object' ? { 'content-type': 'application/json' } : {};
    const bytes = Buffer.from(text);
    const outcome = { status, headers: { ...label, ...headers }, bytes, text };
    const row = operations[id];
    const url = `${base}${path ?? row.path.replace(/\{\w+\}/g, 'x')}`;
    const wire = { method: row.method, url, headers: sent, ...(request && { body: request }) };
    const record = exchangeOf(wire, outcome, { startMs: 0, elapsedMs: 1 });
    const each = judge.forCase(plansFaults);
    each.judge({ request: wire, url, outcome, record });
    return each.violations.map(({ requirements: ids, text: what }) => `${ids.join()}: ${what}`);
  });
}
