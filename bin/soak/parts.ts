/** Every part of the soak: a row for each. */
import { fuzz } from './fuzz.ts';
import type { SoakPart } from './part.ts';

/** In the order in which they run, by the name that `--part` takes. */
export const soakParts: Readonly<Record<string, SoakPart>> = {
  fuzz,
};
