/** The Error body of a refusal, as far as `errors.body-is-error` speaks of it. Spec: Error */
import * as v from 'valibot';
import { expectShape } from '../expectations.ts';
import type { Answer } from '../target/target.ts';
import { refused } from './granted.ts';

/** Holds when a refusal carries a JSON object. Throws a NotObservable when it is no refusal. */
export function expectErrorBody(answer: Answer): void {
  expectShape(refused(answer), v.looseObject({}));
}
