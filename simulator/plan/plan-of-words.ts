/** What the words of a plan come to: the plan, with units in the names and nothing to be looked up. */
import { fieldsOfWords, type OptionRow } from './option-row.ts';
import { options } from './options.ts';
import type { FleetPlan } from './plan.ts';
import type { PlanWords } from './plan-words.ts';
import { given } from './word-values.ts';

/** Words that a plan cannot do without. */
type Needed =
  | 'url'
  | 'devices'
  | 'seed'
  | 'poll'
  | 'inventory'
  | 'ramp'
  | 'headerPrefix'
  | 'requestTimeLimit';

/** Words with nothing missing; certificates stand in the place of their files, a user in that of its words. */
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

/** The plan that the words describe; not yet checked. */
export function planOfWords(words: WholePlanWords): FleetPlan {
  const { rsaPool: size, rsaBits: bits, rsaPoolFolder: folder, tls, acceptWith } = words;
  return {
    ...Object.fromEntries(absences),
    ...fieldsOfWords(options, words),
    rsaPool: given({ size, bits, folder }),
    ...given({ tls, acceptWith }),
  } as FleetPlan;
}
