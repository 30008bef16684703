/** Cases: how a device uploads the log of its deployment. Spec: DeploymentLog */
import { defineScenario } from '../case.ts';
import {
  expectEach,
  expectNoBody,
  expectStatus,
  expectThat,
  observedAnswer,
  shown,
} from '../expectations.ts';
import type { Stage } from '../stage/stage.ts';
import { acceptedDevice, activeDeployment, type OfferedDeployment } from '../stage/start-states.ts';
import type { Answer } from '../target/target.ts';

const entry = { timestamp: '2026-01-31T12:00:00Z', level: 'error', message: 'no space left' };

function upload({ device, id }: OfferedDeployment, ...messages: unknown[]): Promise<Answer> {
  return device.call('put-deployment-log', { path: { id }, body: { messages } });
}

/** The log as users read it, once it holds the text. */
async function shownLog(
  stage: Stage,
  { deploymentId, device }: OfferedDeployment,
  text: string,
): Promise<string> {
  const log = await stage.settled(
    () => stage.operator.deploymentLog(deploymentId, device.id),
    (found) => found?.includes(text) ?? false,
  );
  return log ?? '';
}

const active = defineScenario({
  area: 'deployment-log',
  name: 'Uploads',
  start: 'a device that has been offered a deployment',
  risk: 'write',
  needs: ['operator'],
  arrange: activeDeployment,
  cases: [
    {
      id: 'upload-is-204',
      title: 'A log of messages is answered 204 without a body.',
      requirements: ['log.is-accepted'],
      covers: ['put-deployment-log 204'],
      run: async (world) => {
        const answer = await upload(world, entry, { ...entry, level: 'INFO', message: 'bye' });
        expectStatus(answer, 204);
        expectNoBody(answer);
      },
    },
    {
      id: 'messages-are-kept',
      title: 'Users read every message of the uploaded log.',
      requirements: ['log.is-kept'],
      run: async (world, stage) => {
        await upload(world, entry, { ...entry, message: 'rolled back' });
        const log = await shownLog(stage, world, 'rolled back');
        const holdsBoth = log.includes(entry.message) && log.includes('rolled back');
        expectThat(holdsBoth, 'both messages in the log', shown(log));
      },
    },
    {
      id: 'second-upload-replaces',
      title: 'A log that is uploaded again replaces the earlier one.',
      requirements: ['log.is-replaced'],
      run: async (world, stage) => {
        await upload(world, entry);
        await upload(world, { ...entry, message: 'second upload' });
        const log = await shownLog(stage, world, 'second upload');
        const isReplaced = log.includes('second upload') && !log.includes(entry.message);
        expectThat(isReplaced, 'the second log only', shown(log));
      },
    },
    {
      id: 'offset-in-timestamp-is-204',
      title: 'A timestamp may have a fraction of a second and any offset from UTC.',
      requirements: ['log.timestamp-is-a-date-time'],
      run: async (world) => {
        const timestamp = '2026-01-31T12:00:00.123456789+05:30';
        expectStatus(await upload(world, { ...entry, timestamp }), 204);
      },
    },
    {
      id: 'missing-field-is-400',
      title: 'A message without timestamp, level or text, even one among good ones, is 400.',
      requirements: ['log.fields-are-required'],
      covers: ['put-deployment-log 400'],
      run: async (world) => {
        const messages = {
          'no timestamp': { level: 'info', message: 'text' },
          'no level': { timestamp: entry.timestamp, message: 'text' },
          'no message': { timestamp: entry.timestamp, level: 'info' },
        };
        await expectEach(400, messages, (message) => upload(world, entry, message));
      },
    },
    {
      id: 'malformed-timestamp-is-400',
      title: 'A timestamp that is no date-time is answered 400.',
      requirements: ['log.timestamp-is-a-date-time'],
      run: async (world) => {
        const timestamps = {
          'a word': 'yesterday',
          'a day that does not exist': '2026-02-30T12:00:00Z',
          'a number': 1_769_860_800,
        };
        await expectEach(400, timestamps, (timestamp) => upload(world, { ...entry, timestamp }));
      },
    },
    {
      id: 'malformed-log-is-400',
      title: 'A body that is no object with an array of messages is answered 400.',
      requirements: ['log.malformed-is-400', 'log.fields-are-required'],
      run: async ({ device, id }) => {
        const bodies = {
          'no JSON': '{"messages":[',
          'no messages': '{}',
          'a text as messages': '{"messages":"text"}',
          'an array of texts': '{"messages":["text"]}',
          'an array': '[]',
        };
        await expectEach(400, bodies, (raw) =>
          device.call('put-deployment-log', { path: { id }, raw }),
        );
      },
    },
    {
      id: 'empty-log',
      title: 'A log that holds no messages.',
      requirements: ['log.empty'],
      observe: async (world) => observedAnswer(await upload(world)),
    },
  ],
});

const foreign = defineScenario({
  area: 'deployment-log',
  name: 'Deployments of others',
  start: 'an accepted device without a deployment',
  risk: 'write',
  needs: ['operator'],
  arrange: acceptedDevice,
  cases: [
    {
      id: 'unknown-deployment-is-404',
      title: 'A log for a deployment that nobody made is answered 404.',
      requirements: ['log.unknown-deployment-is-404'],
      covers: ['put-deployment-log 404'],
      run: async (device, stage) => {
        const path = { id: stage.random.uuid() };
        const body = { messages: [entry] };
        expectStatus(await device.call('put-deployment-log', { path, body }), 404);
      },
    },
    {
      id: 'deployment-of-another-device-is-404',
      title: 'A log for a deployment of another device is answered 404.',
      requirements: ['log.unknown-deployment-is-404'],
      run: async (device, stage) => {
        const path = { id: (await activeDeployment(stage)).id };
        const body = { messages: [entry] };
        expectStatus(await device.call('put-deployment-log', { path, body }), 404);
      },
    },
  ],
});

/** Spec: DeploymentLog */
export const deploymentLogCases = [...active, ...foreign];
