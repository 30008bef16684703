/**
 * Converts a plan from plan-file form to the plan itself, with units in the names and files loaded.
 */
import { fieldsOfWords, type OptionRow } from './option-row.ts';
import { options } from './options.ts';
import type { FleetPlan } from './plan.ts';
import type { PlanWords } from './plan-words.ts';
import { given } from './word-values.ts';

/** Values that a plan requires. */
type Needed =
  | 'url'
  | 'devices'
  | 'seed'
  | 'poll'
  | 'inventory'
  | 'ramp'
  | 'headerPrefix'
  | 'requestTimeLimit';

/**
 * Complete plan-file values; certificates replace their file names, and a user replaces its values.
 */
export type WholePlanWords = Omit<
  PlanWords,
  'ca' | 'cert' | 'key' | 'accept' | 'email' | 'password' | 'token' | 'acceptWith'
> & {
  readonly [Name in Needed]: NonNullable<PlanWords[Name]>;
} & { readonly tls?: FleetPlan['tls']; readonly acceptWith?: FleetPlan['acceptWith'] };

const rows: readonly OptionRow[] = Object.values(options);
const absences = rows.flatMap(({ field, absent }) =>
  field === undefined || absent === undefined ? [] : [[field, absent]],
);

/** Returns the plan that the values describe; not yet checked. */
export function planOfWords(words: WholePlanWords): FleetPlan {
  const { rsaPool: size, rsaBits: bits, rsaPoolFolder: folder, tls, acceptWith } = words;
  return {
    ...Object.fromEntries(absences),
    ...fieldsOfWords(options, words),
    rsaPool: given({ size, bits, folder }),
    ...given({ tls, acceptWith }),
  } as FleetPlan;
}
