/** Sends every reader of foreign structure its worst request. */
import type { SoakPart } from './part.ts';
import { startFuzzTarget } from './fuzz-target.ts';
import { StallProber } from './stall-prober.ts';
import { worstRequests } from './worst-requests.ts';

export const stalls: SoakPart = async ({ output, times }) => {
  const target = await startFuzzTarget();
  const only = process.env.ONLY;
  try {
    for (const row of worstRequests) {
      if (only && !row.name.includes(only)) continue;
      const send = await row.prepare(target);
      const all: number[] = [];
      let how: unknown;
      for (let i = 0; i < (times ?? 3); i++) {
        const prober = await StallProber.to({ pid: target.child.pid, baseUrl: target.ready.baseUrl });
        all.push(Math.round(await prober.worstDuring(async () => { how = await send(); })));
        prober.close();
      }
      output.line(`${row.name}: ${all.join(' ')} ms; ${String(Array.isArray(how) ? how[0] : how).slice(0, 160)}`);
    }
    return [];
  } finally {
    await target.child.end();
  }
};
