import { describe, expect, it } from 'vitest';
import type { ClientEvent } from '../../fixtures/control/client-event.ts';
import { ClientJudge } from './client-judge.ts';
import { all, copyOf, editSteps, insert, repeated, silentAfter } from './self-test/alter.ts';
import { defectiveClients } from './self-test/defective-clients.ts';
import { goodSteps } from './self-test/good-client.ts';
import { authenticationRequest, eventsOf, type Request, type Step } from './self-test/steps.ts';

function judged(steps: readonly Step[]) {
  const judge = new ClientJudge();
  for (const event of eventsOf(steps)) judge.judge(event);
  return judge.verdict('device-1')?.duties ?? [];
}

function brokenIn(steps: readonly Step[]) {
  const broken = judged(steps).filter(({ state }) => state === 'broken');
  return broken.map(({ duty, violations }) => `${duty}: ${violations[0]?.message}`);
}

describe('the judge of a good client', () => {
  it('finds no duty broken by a good client', () => {
    expect(brokenIn(goodSteps())).toEqual([]);
  });
});

describe('the judge of a good client that the server fails', () => {
  const pausesMs = [10_000, 20_000, 40_000];
  const failed = { status: 503, response: '<html>' };
  const failures = (step: Request) =>
    pausesMs.map((afterMs, at) => ({ ...copyOf(step), ...failed, afterMs, label: `failed ${at}` }));

  it.each([
    [
      'authentication request',
      insert('idle 6', () => failures(authenticationRequest('authentication request'))),
    ],
    ['final report', insert('d2: lost', failures)],
  ])(
    'finds no duty broken if a failed %s is not repeated before the recording ends',
    (_, fails) => {
      const steps = all(fails, silentAfter('failed 2', 70_000))(goodSteps());
      expect(brokenIn(steps)).toEqual([]);
    },
  );
});

describe('the judge of a client that was refused', () => {
  it('counts an expired token that is refused at the WebSocket handshake as the first refusal', () => {
    const atHandshake = editSteps('expired', (step) => {
      Object.assign(step, { operation: 'connect', sent: undefined, response: '' });
    });
    const renewal = judged(atHandshake(goodSteps())).find(
      ({ duty }) => duty === 'auth.renews-on-expiry',
    );
    expect(renewal).toMatchObject({ state: 'met', judged: 1 });
  });

  it('does not compare a pause after the acceptance with the pauses before', () => {
    const again = insert('first token', (copy) =>
      [1, 2, 3].map((at) => ({ ...copyOf(copy), label: `again ${at}`, afterMs: 1100 })),
    );
    const faster = editSteps('pending 3', (step) => {
      step.afterMs = 4000;
    });
    expect(brokenIn(all(faster, again)(goodSteps()))).toEqual([]);
  });

  it('does not judge the pauses between refusals when they prove nothing', () => {
    const slower = insert('pending 3', (copy) =>
      [40_000, 60_000].map((afterMs, at) => ({ ...copyOf(copy), label: `slow ${at}`, afterMs })),
    );
    expect(brokenIn(all(slower, silentAfter('slow 1', 100_000))(goodSteps()))).toEqual([]);
  });
});

describe('the judge of a client in unusual situations', () => {
  const silentFor = (afterMs: number) => all(silentAfter('d1: cut', afterMs));
  const lookedAtMap = (steps: Step[]): Step[] => {
    const pause = steps.find(({ label }) => label === 'm1: pause') as Request;
    const response = {
      update_control_map: { states: { ArtifactInstall_Enter: { action: 'pause' } } },
    };
    const fetch = { ...copyOf(pause), operation: 'get-update-control-map', status: 200 } as const;
    return insert('m1: download', () => [{ ...fetch, label: 'map', sent: undefined, response }])(
      steps,
    );
  };
  const requestedAgain = insert('d1: cut', (copy) => [
    {
      ...copyOf(copy),
      label: 'elsewhere',
      status: 206,
      afterMs: 1500,
      isDelivered: true,
      headers: { Range: 'bytes=200000-' },
      faultsAndVariations: ['shifted-range'],
      responseHeaders: { ...copy.responseHeaders, 'Content-Range': 'bytes 100000-299999/400000' },
    },
  ]);
  const fetchedAgain = all(
    editSteps('d1: cut', { faultsAndVariations: ['over-long'], alteration: 'end' }),
    editSteps('d1: resumed', (step) => {
      const { responseHeaders } = step;
      const whole = { 'Content-Length': '400000', ETag: responseHeaders.ETag ?? '' };
      Object.assign(step, {
        headers: {},
        status: 200,
        responseBytes: 400_000,
        responseHeaders: whole,
      });
    }),
  );

  it.each([
    ['looks at the newest control map before it reports a pause', lookedAtMap],
    ['fetches a file from its first byte after a body that went on past its end', fetchedAgain],
    ['requests again what it lacks after a part that began elsewhere', requestedAgain],
    ['waits for a minute before it fetches a file again', silentFor(60_000)],
    [
      'resumes a file after a cut that the plan calls endless-fun',
      editSteps('d1: cut', { faultsAndVariations: ['endless-fun', 'reset'] }),
    ],
    [
      'uses a WebSocket after a delay that the plan calls accepted',
      editSteps('connect 1', { faultsAndVariations: ['accepted', 'delay'] }),
    ],
  ])('finds no duty broken by a client that %s', (_, alter) => {
    expect(brokenIn(alter(goodSteps()))).toEqual([]);
  });

  it('reports the missing final status at once when the client exits with an error', () => {
    const judge = new ClientJudge();
    const steps = goodSteps();
    const offered = steps.findIndex(({ label }) => label === 'd1: downloading');
    for (const event of eventsOf(steps.slice(0, offered))) judge.judge(event);
    judge.end(0, true);
    const broken =
      judge.verdict('device-1')?.duties.filter(({ state }) => state === 'broken') ?? [];
    expect(broken.map(({ duty }) => duty)).toContain('report.final');
  });

  it('reports the missing final status after a long silence behind an interrupted download', () => {
    expect(brokenIn(silentFor(120_000)(goodSteps()))).toEqual([
      expect.stringMatching(/^report\.final: .*nothing of the kind/),
    ]);
  });
});

describe('the judge of a client whose poll interval was measured before', () => {
  it('accepts pauses between failures that are as long as the interval', () => {
    const sixFailures = repeated('d2: lost', 8, { afterMs: 1500 });
    const fromOffer = (steps: Step[]): Step[] =>
      sixFailures(steps).slice(steps.findIndex(({ label }) => label === 'd2: offer'));
    const judge = (intervalMs?: number) => {
      const found = new ClientJudge(undefined, intervalMs);
      for (const event of eventsOf(fromOffer(goodSteps())).slice(0, 14)) found.judge(event);
      const duties = found.verdict('device-1')?.duties ?? [];
      return duties.flatMap(({ duty, state }) => (state === 'broken' ? [duty] : []));
    };
    expect(judge()).toEqual(['report.retries-bounded-rate']);
    expect(judge(1500)).toEqual([]);
  });
});

describe('the judge that begins to watch in the middle of a session', () => {
  const events = eventsOf(goodSteps());
  /** Every third event keeps the test short. */
  const SAMPLED = 3;

  it('reports no violation of a good client whose first requests it did not see', () => {
    const broken = events.flatMap((_, firstIndex) => {
      if (firstIndex % SAMPLED > 0) return [];
      const judge = new ClientJudge();
      for (const event of events.slice(firstIndex)) judge.judge(event);
      const duties = judge.verdicts().flatMap((verdict) => verdict.duties);
      return duties.flatMap(({ duty, state }) =>
        state === 'broken' ? [`${duty}, from event ${firstIndex}`] : [],
      );
    });
    expect(broken).toEqual([]);
  });

  it('reports no violation of a good client when an event was lost', () => {
    const broken = events.flatMap((_, lost) => {
      if (lost % SAMPLED > 0) return [];
      const judge = new ClientJudge();
      const client = 'device-1';
      events.forEach((event, at) => {
        if (at !== lost) judge.judge(event);
        else
          judge.judge({
            kind: 'server',
            event: 'events-dropped',
            client,
            count: 1,
            atMs: timeOf(event),
          });
      });
      const { duties = [] } = judge.verdict(client) ?? {};
      return duties.flatMap(({ duty, state }) =>
        state === 'broken' ? [`${duty}, without event ${lost}`] : [],
      );
    });
    expect(broken).toEqual([]);
  });
});

function timeOf(event: ClientEvent): number {
  return event.kind === 'exchange' ? event.endedMs : event.atMs;
}

describe('the judge of a repeated poll', () => {
  const poll = eventsOf(goodSteps()).findLast(
    (event) => event.kind === 'exchange' && event.status === 204 && event.url.includes('/next'),
  );
  if (poll?.kind !== 'exchange') throw new Error('the good client has no idle poll');
  const idlePoll = poll;
  const timesLater = (seconds: number) => ({
    sentMs: idlePoll.sentMs + seconds * 1000,
    endedMs: idlePoll.endedMs + seconds * 1000,
  });

  /** The verdict of a judge, without the numbers of events that decided it. */
  const found = (judge: ClientJudge) => {
    const { exchanges, duties = [] } = judge.verdict(idlePoll.client) ?? {};
    return { exchanges, duties: duties.map(({ judged: _, ...duty }) => duty) };
  };

  it('judges a repeated poll as it judges the same poll in full', () => {
    const [whole, repeated] = [new ClientJudge(), new ClientJudge()];
    for (const judge of [whole, repeated]) judge.judge(idlePoll);
    for (const seconds of [5, 10, 15, 20, 25]) {
      whole.judge({ ...idlePoll, ...timesLater(seconds) });
      expect(repeated.recordRepeat(idlePoll.client, timesLater(seconds))).toBe(true);
    }
    expect(found(repeated)).toEqual(found(whole));
  });

  it('gives fast repeated polls the verdict of full ones, and judges every tenth in full', () => {
    const [whole, repeated] = [new ClientJudge(), new ClientJudge()];
    for (const judge of [whole, repeated]) judge.judge(idlePoll);
    const taken = Array.from({ length: 20 }, (_, at) => {
      const times = timesLater((at + 1) / 10);
      whole.judge({ ...idlePoll, ...times });
      const isTaken = repeated.recordRepeat(idlePoll.client, times);
      if (!isTaken) repeated.judge({ ...idlePoll, ...times });
      return isTaken;
    });
    expect(taken.flatMap((isTaken, at) => (isTaken ? [] : [at + 1]))).toEqual([9, 10]);
    expect(found(repeated)).toEqual(found(whole));
    const broken = found(repeated).duties.filter(({ state }) => state === 'broken');
    expect(broken.map(({ duty }) => duty)).toEqual(['next.not-faster-than-a-second']);
  });

  it('does not accept a repeated poll of an unknown device', () => {
    const judge = new ClientJudge();
    judge.judge(idlePoll);
    expect(judge.recordRepeat('another', timesLater(5))).toBe(false);
  });
});

describe('the judge of a defective client', () => {
  it.each(defectiveClients)(
    'names $duty for a client that $does',
    ({ duty, alter, consequences = [] }) => {
      const broken = brokenIn(alter(goodSteps()));
      expect(broken.map((each) => each.split(':')[0]).toSorted(), broken.join('; ')).toEqual(
        [duty, ...consequences].toSorted(),
      );
    },
  );
});
