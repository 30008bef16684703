/** All scenes: a row for each name that duties refer to, and the reasons of those without. */
import type { SceneName } from '../../conformance/client-judge/scene-names.ts';
import type { Scene } from './scene.ts';
import { authenticationScenes } from './scenes/authentication.ts';
import { connectionScenes } from './scenes/connections.ts';
import { downloadScenes } from './scenes/downloads.ts';
import { failureScenes } from './scenes/failures.ts';
import { offerScenes } from './scenes/offers.ts';
import { reportScenes } from './scenes/reports.ts';

const scenes = {
  ...authenticationScenes,
  ...offerScenes,
  ...downloadScenes,
  ...reportScenes,
  ...connectionScenes,
  ...failureScenes,
} as const satisfies Partial<Record<SceneName, object>>;

/** The scene in which the interval is measured and the capabilities are found. */
export const MEASURING_SCENE = 'ordinary-traffic';

/** The reasons why scenes are not run, for the report; their duties get no verdict. */
export const notRun = {
  'power-cut': 'it runs at every point of an update: give --cuts',
  'compressed-download': 'the server sends no file with Content-Encoding',
  'large-artifact': 'a file of more than 2 GiB takes too long for a client test',
  monitor: 'only the author can let a monitored service fail',
  'restart-of-many': 'one client at a time is tested',
} as const satisfies Record<Exclude<SceneName, keyof typeof scenes>, string>;

/** All scenes, in the order in which they are run. */
export const allScenes: readonly Scene[] = Object.entries(scenes).map(([name, row]) => ({
  name,
  ...row,
}));
