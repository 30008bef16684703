/** The scenes that cut a client at every point of an update. */
import type { CutPoint, Scene, Step } from '../scene.ts';
import { acceptedStart, awaitFinalReport, damaged, deploy, heldDownload, toLogs } from './steps.ts';

/** Waits until the server has nothing for the client any more. */
const isOver: Step = { await: 'poll without an update' };

/**
 * Returns the scenes that cut the client at every point that the protocol shows.
 * @param reports the statuses that the client reports in an update, in their order
 */
export function cutScenes(reports: readonly string[]): readonly Scene[] {
  const reportPoints = reports.flatMap((report): CutPoint[] =>
    (['before', 'after'] as const).map((when) => ({
      name: `${when} "${report}" is stored, without a response`,
      hold: { match: { operation: 'put-deployment-status', report }, when },
    })),
  );
  const parts: readonly (readonly [part: number, name: string])[] = [
    [0, 'at the first byte of the download'],
    [0.1, 'at a tenth of the download'],
    [0.5, 'at half of the download'],
    [1, 'before the last byte of the download'],
  ];
  const points: readonly CutPoint[] = [
    ...parts.map(([part, name]) => ({ name, hold: heldDownload(part) })),
    { name: 'after the whole download', after: 'whole download' },
    ...reportPoints,
    ...(reports.includes('rebooting')
      ? [{ name: 'after "rebooting" was answered', after: 'report of a reboot' } as const]
      : []),
  ];
  const inLog: CutPoint = {
    name: 'in the upload of the log',
    hold: { ...toLogs, when: 'before' },
  };
  return [
    ...points.map((cut) => ({
      name: `cut ${cut.name}`,
      ...acceptedStart(deploy, { cut }, awaitFinalReport),
    })),
    // A client may report the failure before its log: then only the next poll shows the end.
    { name: `cut ${inLog.name}`, ...acceptedStart(damaged, deploy, { cut: inLog }, isOver) },
  ];
}
