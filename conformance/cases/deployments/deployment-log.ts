/** Cases: how a device uploads the log of its deployment. Spec: DeploymentLog */
import {
  arrangeAbort,
  arrangeReports,
  sharedDeployment,
  shownStatus,
} from '../../context/deployment-life.ts';
import { statusColumns } from '../../context/device-statuses.ts';
import {
  acceptedDevice,
  activeDeployment,
  type OfferedDeployment,
  requireResponse,
} from '../../context/start-states.ts';
import type { TestContext } from '../../context/test-context.ts';
import { defineScenario } from '../../suite/case.ts';
import { inputCases } from '../../suite/input-table.ts';
import {
  describeValue,
  ExpectationFailure,
  expectEqual,
  expectStatus,
  expectThat,
  NotObservable,
  observationOf,
  observedResponse,
  responseSummary,
} from '../../target/expectations.ts';
import type { HttpResponse } from '../../target/response.ts';
import { logInputs, validLog, validMessage } from './deployment-log-inputs.ts';

/** The times of messages of a device whose clock is set back while it writes its log. */
const backwards = [
  '2026-02-01T12:00:00Z',
  '2026-01-31T12:00:02Z',
  '2026-01-31T12:00:01Z',
  '2026-01-31T12:00:01Z',
];

/** Matches date-times with an offset; without one, the time zone would be unknown. */
const dateTimes = /\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)/g;

type LogOwner = Pick<OfferedDeployment, 'device' | 'id'>;

function upload({ device, id }: LogOwner, ...messages: readonly unknown[]): Promise<HttpResponse> {
  return device.call('put-deployment-log', { path: { id }, body: { messages } });
}

async function arrangeUpload(arranged: LogOwner, ...messages: readonly unknown[]): Promise<void> {
  requireResponse('put-deployment-log', await upload(arranged, ...messages), 204);
}

/** Returns the log as users read it, once it contains the text. */
async function shownLog(
  context: TestContext,
  { deploymentId, device }: Pick<OfferedDeployment, 'deploymentId' | 'device'>,
  text: string,
): Promise<string> {
  const log = await context.eventually(
    () => context.admin.deploymentLog(deploymentId, device.id),
    (shownLog) => shownLog?.includes(text) ?? false,
  );
  return log ?? '';
}

/** Asserts that users still see the status which the device reported before its upload. */
async function expectStatusKept(
  context: TestContext,
  { deploymentId, device }: OfferedDeployment,
  status: string,
): Promise<void> {
  const shownDeployment = await context.eventually(
    () => context.admin.deviceDeployment(deploymentId, device.id),
    (shownDeployment) => shownDeployment === undefined || shownDeployment.status === status,
  );
  if (shownDeployment === undefined || shownDeployment.status === status) return;
  const violated = ['status.becomes-the-state'] as const;
  throw new ExpectationFailure(
    `the status ${status} after the upload`,
    shownDeployment.status,
    violated,
  );
}

const uploadCases = defineScenario({
  area: 'deployment-log',
  name: 'Uploads',
  start: 'a device that has been offered a deployment',
  effect: 'write',
  needs: ['user'],
  arrange: activeDeployment,
  cases: [
    {
      id: 'upload-is-204',
      title: 'A log of messages is answered with 204.',
      requirements: ['log.is-accepted'],
      covers: ['put-deployment-log 204'],
      run: async (arranged) =>
        expectStatus(
          await upload(arranged, validMessage, { ...validMessage, level: 'INFO', message: 'bye' }),
          204,
        ),
    },
    {
      id: 'messages-are-kept',
      title: 'Users read every message of the uploaded log.',
      requirements: ['log.is-kept'],
      run: async (arranged, context) => {
        await arrangeUpload(arranged, validMessage, { ...validMessage, message: 'rolled back' });
        const log = await shownLog(context, arranged, 'rolled back');
        const holdsBoth = log.includes(validMessage.message) && log.includes('rolled back');
        expectThat(holdsBoth, 'both messages in the log', describeValue(log));
      },
    },
    {
      id: 'messages-are-kept-as-sent',
      title: 'Users read a message with its leading and inner spaces.',
      requirements: ['log.is-kept'],
      run: async (arranged, context) => {
        const message = '    at   line 7 of update.sh';
        await arrangeUpload(
          arranged,
          { ...validMessage, message },
          { ...validMessage, message: 'last line' },
        );
        const log = await shownLog(context, arranged, 'last line');
        expectThat(
          log.includes(message),
          `a log with ${describeValue(message)}`,
          describeValue(log),
        );
      },
    },
    {
      id: 'moments-are-kept',
      title: 'Users read the right time of a message whose timestamp has an offset from UTC.',
      requirements: ['log.is-kept'],
      run: async (arranged, context) => {
        const timestamp = '2026-01-31T14:30:07+05:30';
        await arrangeUpload(arranged, { ...validMessage, timestamp });
        const log = await shownLog(context, arranged, validMessage.message);
        const times = [...log.matchAll(dateTimes)].map(([text]) => Date.parse(text));
        if (times.length === 0) throw new NotObservable('the log shows no date-times');
        expectThat(
          times.includes(Date.parse(timestamp)),
          `a log of ${timestamp}`,
          describeValue(log),
        );
      },
    },
    {
      id: 'messages-keep-their-order',
      title:
        'Users read the messages in the order in which they were sent, whatever their timestamps.',
      requirements: ['log.keeps-its-order'],
      run: async (arranged, context) => {
        const sentLines = ['first line', 'second line', 'third line', 'last line'];
        const messages = sentLines.map((message, index) => ({
          ...validMessage,
          message,
          timestamp: backwards[index],
        }));
        await arrangeUpload(arranged, ...messages);
        const log = await shownLog(context, arranged, 'last line');
        const positions = sentLines.map((message) => log.indexOf(message));
        if (positions.includes(-1)) throw new NotObservable('the log does not show every message');
        const isInOrder = positions.every(
          (position, index) => position > (positions[index - 1] ?? -1),
        );
        expectThat(
          isInOrder,
          'the messages in the order in which they were sent',
          describeValue(log),
        );
      },
    },
    {
      id: 'second-upload-replaces',
      title: 'A new upload replaces the earlier log, whether that was shorter or longer.',
      requirements: ['log.is-replaced'],
      run: async (arranged, context) => {
        const long = Array.from({ length: 40 }, () => validMessage);
        for (const [messages, keptText, lost] of [
          [long, validMessage.message, 'short upload'],
          [[{ ...validMessage, message: 'short upload' }], 'short upload', validMessage.message],
          [long, validMessage.message, 'short upload'],
        ] as const) {
          await arrangeUpload(arranged, ...messages);
          const log = await shownLog(context, arranged, keptText);
          const isReplaced = log.includes(keptText) && !log.includes(lost);
          expectThat(isReplaced, `the last log only, with ${keptText}`, describeValue(log));
        }
      },
    },
    ...inputCases<OfferedDeployment>(logInputs, {
      body: validLog,
      send: ({ device, id }, { raw }) => device.call('put-deployment-log', { path: { id }, raw }),
      accepted: [204],
    }),
    {
      id: 'line-breaks-in-a-message',
      title: 'How users see a message with line breaks, though clients split their log by line.',
      requirements: ['log.line-breaks'],
      observe: async (arranged, context) => {
        const twoLineMessage = { ...validMessage, message: 'first line\nsecond line' };
        await arrangeUpload(arranged, twoLineMessage, { ...validMessage, message: 'last line' });
        const log = await shownLog(context, arranged, 'last line');
        return observationOf(`the log ${describeValue(log)}`);
      },
    },
    {
      id: 'one-bad-message-after-many-good-ones',
      title: 'A log of 150 messages, of which only the last has no level, is answered with 400.',
      requirements: ['log.level-is-required'],
      run: async (arranged) => {
        const validMessages = Array.from({ length: 149 }, () => validMessage);
        const { level: _, ...bad } = validMessage;
        expectStatus(await upload(arranged, ...validMessages, bad), 400);
      },
    },
    {
      id: 'upload-leaves-the-status',
      title: 'An upload of a log does not change the status that users see.',
      requirements: ['status.becomes-the-state'],
      run: async (arranged, context) => {
        await arrangeReports(arranged, 'installing');
        await shownStatus(context, arranged, 'installing');
        await arrangeUpload(arranged, validMessage);
        await shownLog(context, arranged, validMessage.message);
        const shownDeployment = await context.admin.deviceDeployment(
          arranged.deploymentId,
          arranged.device.id,
        );
        if (shownDeployment === undefined) throw new NotObservable('users do not see the device');
        expectEqual('status', shownDeployment.status, 'installing');
      },
    },
    {
      id: 'upload-after-each-status-is-accepted',
      title:
        'A device uploads its log after each of the nine statuses that it may have reported, which keeps the status.',
      requirements: ['log.is-accepted', 'log.after-failure', 'status.becomes-the-state'],
      run: async (arranged, context) => {
        for (const status of statusColumns) {
          await arrangeReports(arranged, status);
          const response = await upload(arranged, validMessage);
          if (response.status < 400) {
            await expectStatusKept(context, arranged, status);
            continue;
          }
          const isEnd = status === 'success' || status === 'failure';
          throw new ExpectationFailure(
            `a log that is accepted after ${status}`,
            responseSummary(response),
            [isEnd ? 'log.after-failure' : 'log.is-accepted'],
          );
        }
      },
    },
    {
      id: 'messages-after-failure-are-kept',
      title: 'Users read a log that was uploaded after the device reported failure.',
      requirements: ['log.is-kept'],
      run: async (arranged, context) => {
        await arrangeReports(arranged, 'failure');
        const response = await upload(arranged, validMessage);
        requireResponse('put-deployment-log', response, 204);
        const log = await shownLog(context, arranged, validMessage.message);
        expectThat(
          log.includes(validMessage.message),
          `a log with ${validMessage.message}`,
          describeValue(log),
        );
      },
    },
    {
      id: 'upload-after-an-abort',
      title: 'Whether a device may upload its log after a user has aborted the deployment.',
      requirements: ['log.after-the-abort'],
      observe: async (arranged, context) => {
        await arrangeAbort(context, arranged);
        return observedResponse(await upload(arranged, validMessage));
      },
    },
    {
      id: 'deployment-of-another-device-is-404',
      title: 'A log for a deployment of another device is answered with 404.',
      requirements: ['log.foreign-deployment-is-404'],
      run: async ({ id }, context) => {
        const device = await acceptedDevice(context);
        expectStatus(await upload({ device, id }, validMessage), 404);
      },
    },
  ],
});

const otherDeviceCases = defineScenario({
  area: 'deployment-log',
  name: 'Two devices in one deployment',
  start: 'two devices that have been offered the same deployment',
  effect: 'write',
  needs: ['user'],
  arrange: sharedDeployment,
  cases: [
    {
      id: 'log-is-that-of-the-caller',
      title: 'The log of one device does not replace that of the other.',
      requirements: ['log.own-part-only'],
      run: async ({ one, other }, context) => {
        await arrangeUpload(other, { ...validMessage, message: 'of the other' });
        if (!(await shownLog(context, other, 'of the other')).includes('of the other')) {
          throw new NotObservable('no user sees the log');
        }
        await arrangeUpload(one, validMessage);
        await shownLog(context, one, validMessage.message);
        const log = await shownLog(context, other, 'of the other');
        const isOwn = log.includes('of the other') && !log.includes(validMessage.message);
        expectThat(isOwn, 'its own log only', describeValue(log));
      },
    },
  ],
});

const foreign = defineScenario({
  area: 'deployment-log',
  name: 'Unknown deployments',
  start: 'an accepted device without a deployment',
  effect: 'write',
  needs: ['user'],
  arrange: acceptedDevice,
  cases: [
    {
      id: 'unknown-deployment-is-404',
      title: 'A log for a deployment that does not exist is answered with 404.',
      requirements: ['log.unknown-deployment-is-404'],
      covers: ['put-deployment-log 404'],
      run: async (device, context) =>
        expectStatus(await upload({ device, id: context.random.uuid() }, validMessage), 404),
    },
    {
      id: 'malformed-id-is-refused',
      title: 'A log for a malformed ID is answered with 400 or 404.',
      requirements: ['log.malformed-id'],
      run: async (device) =>
        expectStatus(await upload({ device, id: 'no-such-form' }, validMessage), 400, 404),
    },
  ],
});

export const deploymentLogCases = [...uploadCases, ...otherDeviceCases, ...foreign];
