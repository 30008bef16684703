/** All behaviours, one row each. The fleet picks them by weight; nothing asks for one by name. */
import type { Behaviour } from './behaviour.ts';
import { badlyWritten } from './rows/badly-written.ts';
import { failing } from './rows/failing.ts';
import { healthy } from './rows/healthy.ts';
import { troubled } from './rows/troubled.ts';

const rows: readonly Behaviour[] = [...healthy, ...troubled, ...failing, ...badlyWritten];

/** Every behaviour by its name. */
export const behaviours: ReadonlyMap<string, Behaviour> = new Map(
  rows.map((behaviour) => [behaviour.name, behaviour]),
);
