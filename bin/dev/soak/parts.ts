/** The table of all parts of the soak. */
import { seededRandom } from '../../../fixtures/base/random.ts';
import { shortConnections, soakConnections, wholeConnections } from './connections.ts';
import { damageSoak } from './damage.ts';
import { fuzz } from './fuzz.ts';
import { killsSoak } from './kills.ts';
import type { SoakPart } from './part.ts';
import { stalls } from './stalls.ts';

const KILLS = 200;
const KILLS_SHORT = 8;
const DAMAGES_SHORT = 12;

/** The parts in running order, by the name that `--part` accepts. */
export const soakParts: Readonly<Record<string, SoakPart>> = {
  fuzz,
  stalls,
  kills: ({ output, seed, short, times }) => {
    const random = seededRandom(`kills ${seed}`);
    return killsSoak({ output, random, kills: times ?? (short ? KILLS_SHORT : KILLS) });
  },
  damage: ({ output, seed, short, times }) => {
    const random = seededRandom(`damage ${seed}`);
    const cases = times ?? (short ? DAMAGES_SHORT : undefined);
    return damageSoak({ output, random, ...(cases !== undefined && { cases }) });
  },
  connections: ({ output, short }) =>
    soakConnections((line) => output.line(line), short ? shortConnections : wholeConnections),
};
