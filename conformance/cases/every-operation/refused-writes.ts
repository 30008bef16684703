/**
 * Cases: one invalid element makes a whole list invalid wherever it is, and a refused request has
 * no effect. Spec: Errors
 */
import type { OperationId } from '../../../fixtures/contract/operations.ts';
import type { RequirementId } from '../../../fixtures/contract/requirements/index.ts';
import { activeDeployment, type OfferedDeployment } from '../../context/start-states.ts';
import type { TestContext } from '../../context/test-context.ts';
import { defineScenario, type JudgingCase } from '../../suite/case.ts';
import type { ApiCaller } from '../../target/call.ts';
import {
  describeValue,
  ExpectationFailure,
  expectEqual,
  NotObservable,
  responseSummary,
} from '../../target/expectations.ts';
import type { HttpResponse } from '../../target/response.ts';
import { forgeToken, unsignedToken } from '../../target/token-claims.ts';
import { refusedMarker, type Write, type WrittenList, writes } from './device-writes.ts';

/** The numbers of valid elements before and after the wrong one. */
const positions = {
  first: [0, 2],
  'in the middle': [1, 1],
  last: [2, 0],
} as const satisfies Readonly<Record<string, readonly [number, number]>>;

interface InvalidBody {
  readonly what: string;
  readonly requirement?: RequirementId;
  readonly body: object;
}

/** Returns lists of three elements, each with one wrong element at one place. */
function invalidLists({
  validElement,
  invalidElements,
  body,
}: WrittenList): readonly InvalidBody[] {
  const elements = (count: number, at: string) =>
    Array.from({ length: count }, (_each, index) =>
      validElement(`${refusedMarker}-${at}-${index}`),
    );
  return Object.entries(invalidElements).flatMap(([label, [requirement, element]]) =>
    Object.entries(positions).map(([position, [countBefore, countAfter]]) => ({
      what: `an element with ${label}, ${position} among valid ones`,
      requirement,
      body: body([...elements(countBefore, 'before'), element, ...elements(countAfter, 'after')]),
    })),
  );
}

/** Returns each wrong body of a row once; of lists, the wrong elements are at different places. */
function invalidBodiesOf({ list, invalidBodies }: Write): readonly InvalidBody[] {
  if (!list) return Object.entries(invalidBodies).map(([what, body]) => ({ what, body }));
  const stride = Object.keys(positions).length + 1;
  return invalidLists(list).filter((_, index) => index % stride === 0);
}

function send(caller: ApiCaller, write: Write, { id }: OfferedDeployment, body: object) {
  return caller.call(write.operation, { path: { id }, body });
}

/** Sends each wrong list, and asserts that it is answered with 400. */
function elementCase(write: Write, list: WrittenList): JudgingCase<OfferedDeployment> {
  const [firstRequirement, ...otherRequirements] = Object.values(list.invalidElements).map(
    ([requirement]) => requirement,
  );
  if (!firstRequirement) throw new Error(`${write.operation} has no wrong elements`);
  return {
    id: `${write.operation}-judges-each-element`,
    title: `A ${write.label} with one invalid element is answered with 400 wherever the element is.`,
    requirements: [firstRequirement, ...otherRequirements],
    covers: [`${write.operation} 400`],
    run: async (arranged, context) => {
      const caller = context.caller(arranged.device.token);
      for (const { what, requirement, body } of invalidLists(list)) {
        const response = await send(caller, write, arranged, body);
        if (response.status === 400) continue;
        throw new ExpectationFailure(
          `status 400 for ${what}`,
          responseSummary(response),
          requirement && [requirement],
        );
      }
    },
  };
}

/** Returns the requests that are refused for their body or their caller. */
function refusedRequests(
  write: Write,
  arranged: OfferedDeployment,
  context: TestContext,
): Readonly<Record<string, () => Promise<HttpResponse>>> {
  const { token } = arranged.device;
  const invalidBodies = invalidBodiesOf(write).map(({ what, body }) => [
    what,
    () => send(context.caller(token), write, arranged, body),
  ]);
  const incompleteBody = JSON.stringify(write.body(refusedMarker)).slice(0, -1);
  const calls = { path: { id: arranged.id }, raw: incompleteBody };
  const validBody = write.body(refusedMarker);
  return {
    ...Object.fromEntries(invalidBodies),
    'JSON that is cut off': () => context.caller(token).call(write.operation, calls),
    'a token with another signature': () =>
      send(context.caller(forgeToken(token)), write, arranged, validBody),
    'a token without a signature': () =>
      send(context.caller(unsignedToken(token)), write, arranged, validBody),
  };
}

/** Sends refused requests to a device with data, and asserts that users see the same data. */
function effectCase(write: Write): JudgingCase<OfferedDeployment> {
  return {
    id: `refused-${write.operation}-changes-nothing`,
    title: `A ${write.label} that is refused for its body or its token changes nothing.`,
    requirements: ['errors.refused-changes-nothing'],
    run: async (arranged, context) => {
      const writeResponse = await send(
        context.caller(arranged.device.token),
        write,
        arranged,
        write.body('before'),
      );
      if (writeResponse.status >= 300)
        throw new NotObservable(`written: ${responseSummary(writeResponse)}`);
      const readEffect = () => write.readEffect(arranged, context);
      const isThere = (effect: readonly unknown[]): boolean =>
        /before|downloading/.test(JSON.stringify(effect));
      const earlierEffect = await context.eventually(readEffect, isThere);
      if (!isThere(earlierEffect)) throw new NotObservable('users do not see what was written');
      for (const [what, request] of Object.entries(refusedRequests(write, arranged, context))) {
        const response = await request();
        // Another case judges that the request is refused.
        if (response.status < 400) throw new NotObservable(`${what}: ${responseSummary(response)}`);
      }
      expectEqual(`after refused requests: ${write.label}`, await readEffect(), earlierEffect);
    },
  };
}

/** One scenario for each operation, so that it is skipped on a target without the operation. */
const ofOperations = writes.flatMap((write) =>
  defineScenario<OfferedDeployment>({
    area: 'refused-writes',
    name: `Refused requests of ${write.operation}`,
    start: 'a device that has been offered a deployment',
    effect: 'write',
    needs: ['user', ...write.needs],
    arrange: activeDeployment,
    cases: [...(write.list ? [elementCase(write, write.list)] : []), effectCase(write)],
  }),
);

const ofRejected = defineScenario<OfferedDeployment>({
  area: 'refused-writes',
  name: 'Writes of a rejected device',
  start: 'a device with a deployment and a token, which a user has rejected',
  effect: 'write',
  needs: ['user'],
  arrange: async (context) => {
    const arranged = await activeDeployment(context);
    await context.admin.decide(arranged.device.id, arranged.device.key, 'rejected');
    return arranged;
  },
  cases: [
    {
      id: 'rejected-device-writes-nothing',
      title: 'A request with the token of a rejected device is refused and changes nothing.',
      requirements: ['errors.refused-changes-nothing'],
      run: async (arranged, context) => {
        const rows: Partial<Record<OperationId, Write>> = Object.fromEntries(
          writes.map((write) => [write.operation, write]),
        );
        for (const write of Object.values(context.offered(rows))) {
          const earlierEffect = await write.readEffect(arranged, context);
          const caller = context.caller(arranged.device.token);
          const response = await send(caller, write, arranged, write.body(refusedMarker));
          if (response.status < 400) {
            throw new NotObservable(`${write.operation}: ${responseSummary(response)}`);
          }
          const laterEffect = await write.readEffect(arranged, context);
          expectEqual(
            `after a refused ${write.label}: ${describeValue(write.operation)}`,
            laterEffect,
            earlierEffect,
          );
        }
      },
    },
  ],
});

/** Spec: Errors */
export const refusedWriteCases = [...ofOperations, ...ofRejected];
