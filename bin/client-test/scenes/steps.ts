/** Steps and planned faults that several scenes share. */
import { pollOperations } from '../../../fixtures/contract/operations.ts';
import { downloadOperations } from '../conditions.ts';
import type { Scene, Step } from '../scene.ts';

/** Faults for polls, of each version. */
export const toPolls = { match: { operation: pollOperations } };

/** Faults for downloads. */
export const toDownloads = { match: { operation: downloadOperations } };

/** Faults for reports of a status. */
export const toReports = { match: { operation: 'put-deployment-status' } };

/** Faults for uploads of a log. */
export const toLogs = { match: { operation: 'put-deployment-log' } };

/** Offers an artifact with a name of its own. */
export const deploy: Step = { deploy: { offer: 'new' } };

/** Waits for the accepted final status. */
export const awaitFinalReport: Step = { await: 'final report' };

/** Waits for a poll that the server answers well. */
export const awaitPoll: Step = { await: 'poll with a response 200 or 204' };

/** Ends all planned faults. */
export const clearFaults: Step = { clear: 'faults' };

/** Lets the client go on for two of its intervals. */
export const idleTwoIntervals: Step = { idleIntervals: 2 };

const unavailable = { kind: 'respond', status: 503, body: 'html' };

/** Actions of faults that stand for an outage: no response asks the client to wait for a time. */
export const outageActions = [
  unavailable,
  'reset',
  'gateway-502',
  unavailable,
  'reset',
  unavailable,
];

/** A scene without its name. */
export type SceneRow = Omit<Scene, 'name'>;

/** Returns a scene that begins with an accepted client. */
export const acceptedStart = (...steps: readonly Step[]): SceneRow => ({
  start: 'accepted',
  steps,
});

/** A byte of the payload that is changed in every download. */
export const corruptByte = {
  ...toDownloads,
  times: 'until-cleared',
  act: { kind: 'corrupted', atByte: 150_000 },
};

/** Every download has a byte of the payload changed, so that its checksum does not match. */
export const damaged: Step = { faults: [corruptByte] };

/** Holds a download when this part of the file was sent. */
export function heldDownload(part: number) {
  return { match: { operation: downloadOperations }, when: 'body', part } as const;
}
