/** Cases: one device, or two, write to all of their resources at the same time. */
import type { OperationId } from '../../../fixtures/contract/operations.ts';
import { type SharedDeployment, sharedDeployment } from '../../context/deployment-life.ts';
import {
  activeDeployment,
  factoryProvides,
  type OfferedDeployment,
} from '../../context/start-states.ts';
import type { TestContext } from '../../context/test-context.ts';
import { defineScenario } from '../../suite/case.ts';
import {
  describeValue,
  expectEqual,
  expectThat,
  NotObservable,
  responseSummary,
} from '../../target/expectations.ts';
import type { HttpResponse } from '../../target/response.ts';
import { type Write, writes } from './device-writes.ts';

/** Rounds of concurrent requests; the order in which they are sent alternates. */
const ROUNDS = 3;

/** Sends the requests of a round at once, and requires that each is accepted. */
export async function sendAtOnce(
  send: readonly (() => Promise<HttpResponse>)[],
  round: number,
): Promise<void> {
  const inOrder = round % 2 === 0 ? send : send.toReversed();
  for (const response of await Promise.all(inOrder.map((each) => each()))) {
    // A server may refuse one of several concurrent requests, which other cases observe.
    if (response.status >= 300) throw new NotObservable(responseSummary(response));
  }
}

type WritesByOperation = Readonly<Partial<Record<OperationId, Write>>>;

/** Returns the writes that the target has. */
function offeredWrites(context: TestContext): readonly Write[] {
  const rows: WritesByOperation = Object.fromEntries(writes.map((each) => [each.operation, each]));
  // PUT of attributes would replace those of PATCH.
  return Object.values(context.offered(rows)).filter(
    ({ operation }) => operation !== 'put-attributes',
  );
}

function sending(
  { device, id }: OfferedDeployment,
  { operation, body }: Write,
  text: string,
): () => Promise<HttpResponse> {
  return () => device.call(operation, { path: { id }, body: body(text) });
}

/** Returns what users see of a write of this device, once the text is there or the wait is over. */
function eventualState(
  context: TestContext,
  arranged: OfferedDeployment,
  { write, text }: { readonly write: Write; readonly text: string },
): Promise<string> {
  return context.eventually(
    async () => JSON.stringify(await write.readEffect(arranged, context)),
    (state) => state.includes(text),
  );
}

/** Asserts that users see the text of a write of this device, and none of the other texts. */
async function expectSeen(
  context: TestContext,
  arranged: OfferedDeployment,
  {
    write,
    text,
    otherTexts,
  }: { readonly write: Write; readonly text: string; readonly otherTexts: RegExp },
): Promise<void> {
  // A status report has no text of its own.
  if (write.operation === 'put-deployment-status') return;
  const shownState = await eventualState(context, arranged, { write, text });
  expectThat(shownState.includes(text), `${write.operation}: ${text}`, describeValue(shownState));
  expectThat(
    !otherTexts.test(shownState),
    `${write.operation}: only ${text}`,
    describeValue(shownState),
  );
}

const ofOneDevice = defineScenario<OfferedDeployment>({
  area: 'races',
  name: 'Writes of one device at once',
  start: 'a device that has been offered a deployment',
  effect: 'write',
  needs: ['user'],
  arrange: activeDeployment,
  cases: [
    {
      id: 'writes-of-one-device-at-once',
      title: 'A device writes to all of its resources at the same time, and each write is kept.',
      requirements: ['service.concurrent-writes'],
      run: async (arranged, context) => {
        const rows = offeredWrites(context);
        for (let round = 0; round < ROUNDS; round += 1) {
          const text = `round-${round}-of-a-device`;
          await sendAtOnce(
            rows.map((write) => sending(arranged, write, text)),
            round,
          );
          for (const write of rows) {
            await expectSeen(context, arranged, { write, text, otherTexts: /another/ });
          }
        }
      },
    },
  ],
});

/** Requests that write nothing but may reset what a device has written, by a description. */
const otherRequests: Readonly<
  Record<string, (arranged: OfferedDeployment) => Promise<HttpResponse>>
> = {
  'a renewed token': ({ device }) => device.authenticate(),
  'a poll': ({ device }) => device.call('get-next-deployment', { query: factoryProvides }),
};

const apart = defineScenario<OfferedDeployment>({
  area: 'races',
  name: 'Writes of one device one after another',
  start: 'a device that has been offered a deployment',
  effect: 'write',
  needs: ['user'],
  arrange: activeDeployment,
  cases: [
    {
      id: 'writes-keep-other-resources',
      title: 'A write to one resource of a device, or a new token, changes none of its others.',
      requirements: ['service.writes-keep-apart'],
      run: async (arranged, context) => {
        const rows = offeredWrites(context);
        const text = 'written-first';
        for (const write of rows) {
          const { status } = await sending(arranged, write, text)();
          if (status >= 300) throw new NotObservable(`${write.operation}: status ${status}`);
          // A status report has no text of its own.
          if (write.operation === 'put-deployment-status') continue;
          const state = await eventualState(context, arranged, { write, text });
          // Other cases judge that a write has its effect.
          if (!state.includes(text)) throw new NotObservable(`${write.operation}: ${state}`);
        }
        for (const write of rows) {
          await expectSeen(context, arranged, { write, text, otherTexts: /^$/ });
        }
        const changes: Record<string, () => Promise<HttpResponse>> = Object.fromEntries([
          ...rows.map((write) => [write.operation, sending(arranged, write, 'written-later')]),
          ...Object.entries(otherRequests).map(([what, send]) => [what, () => send(arranged)]),
        ]);
        for (const [what, change] of Object.entries(changes)) {
          const otherWrites = rows.filter(({ operation }) => operation !== what);
          const look = () =>
            Promise.all(
              otherWrites.map(async (write) =>
                describeValue(await write.readEffect(arranged, context)),
              ),
            );
          const earlierState = await look();
          const response = await change();
          if (response.status >= 300)
            throw new NotObservable(`${what}: ${responseSummary(response)}`);
          expectEqual(`other resources after ${what}`, await look(), earlierState);
        }
      },
    },
  ],
});

const ofTwoDevices = defineScenario<SharedDeployment>({
  area: 'races',
  name: 'Writes of two devices at once',
  start: 'two devices that have been offered the same deployment',
  effect: 'write',
  needs: ['user'],
  arrange: sharedDeployment,
  cases: [
    {
      id: 'writes-of-two-devices-at-once',
      title: 'Two devices write the same resources at the same time, and each keeps its own data.',
      requirements: ['service.concurrent-writes'],
      run: async ({ one, other }, context) => {
        const rows = offeredWrites(context);
        for (let round = 0; round < ROUNDS; round += 1) {
          const [text, textOfOther] = [`this-${round}-device`, `that-${round}-device`];
          const send = rows.flatMap((write) => [
            sending(one, write, text),
            sending(other, write, textOfOther),
          ]);
          await sendAtOnce(send, round);
          for (const write of rows) {
            await expectSeen(context, one, { write, text, otherTexts: /that-/ });
            await expectSeen(context, other, { write, text: textOfOther, otherTexts: /this-/ });
          }
        }
      },
    },
  ],
});

/** Spec: What the service does */
export const devicesAtOnceCases = [...ofOneDevice, ...apart, ...ofTwoDevices];
