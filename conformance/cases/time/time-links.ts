/**
 * Cases: expiry of links. Spec: ArtifactLink; DeploymentInstructions (v1); Device deployments v1
 */
import { artifactLinkShape } from '../../../fixtures/contract/resources.ts';
import { configurationLink } from '../../context/every-call.ts';
import { justAfter, MINUTE_SECONDS, secondsUntil } from '../../context/expiry.ts';
import { fieldIn, instructedBy, requireInstructions, textIn } from '../../context/instructions.ts';
import { type PollVariant, pollVariants } from '../../context/poll-variants.ts';
import {
  acceptedDevice,
  deviceAndArtifact,
  factoryProvides,
  requireResponse,
  requireStatus,
  StartStateNotReached,
} from '../../context/start-states.ts';
import type { SuiteDevice } from '../../context/suite-device.ts';
import type { TestContext } from '../../context/test-context.ts';
import { defineScenario } from '../../suite/case.ts';
import type { Headers } from '../../target/exchange.ts';
import {
  ExpectationFailure,
  expectEach,
  expectShape,
  expectStatus,
  expectThat,
  NotObservable,
  responseSummary,
} from '../../target/expectations.ts';
import type { HttpResponse } from '../../target/response.ts';
import { expectToken } from '../../target/token-claims.ts';

/** Headers with which a client requests a file, or for a part of it. */
const requestsForFiles: Readonly<Record<string, Headers>> = {
  'the first bytes': { range: 'bytes=0-99' },
  'the rest of a download': { range: 'bytes=100-' },
  'the last bytes': { range: 'bytes=-100' },
  'the file if it is newer': { 'if-modified-since': 'Thu, 01 Jan 2015 00:00:00 GMT' },
  'the file under any tag but one': { 'if-none-match': '"no-such-tag"' },
  'a part if it is unchanged': {
    range: 'bytes=1-',
    'if-unmodified-since': 'Fri, 01 Jan 2100 00:00:00 GMT',
  },
};

async function artifactLink(context: TestContext) {
  const { device, artifact } = await deviceAndArtifact(context, 'plain');
  const response = await device.call('get-artifact-link', { path: { id: artifact.id } });
  requireResponse('get-artifact-link', response, 200);
  const { uri, expire } = expectShape(response, artifactLinkShape);
  const follow = (headers?: Headers) =>
    context.client.send({ method: 'GET', url: uri, ...(headers && { headers }) });
  return {
    seconds: secondsUntil(context, response, expire),
    marginSeconds: justAfter(response),
    follow,
  };
}

const artifactLinks = defineScenario({
  area: 'time',
  name: 'The expiry of a link to an artifact',
  start: 'a device with a link to an artifact file, on a clock that the suite moves',
  effect: 'write',
  needs: ['user', 'clock-control', 'artifact-listing'],
  arrange: artifactLink,
  cases: [
    {
      id: 'artifact-link-lasts',
      title: 'A minute before its expiry time, the link still returns the file.',
      requirements: ['link.valid-until-expire'],
      run: async ({ seconds, follow }, context) => {
        await context.control.advance(seconds - MINUTE_SECONDS);
        expectStatus(await follow(), 200);
      },
    },
    {
      id: 'expired-artifact-link-serves-no-part',
      title: 'After its expiry time the link returns no file and no part of it, to any request.',
      requirements: ['link.expired'],
      run: async ({ seconds, marginSeconds, follow }, context) => {
        await context.control.advance(seconds + marginSeconds);
        for (const [what, headers] of Object.entries(requestsForFiles)) {
          const { status } = await follow(headers);
          expectThat(status >= 300, `no file for ${what}`, `status ${status}`);
        }
      },
    },
    {
      id: 'expired-artifact-link-is-refused',
      title: 'Right after its expiry time, the link returns no file.',
      requirements: ['link.expired'],
      run: async ({ seconds, marginSeconds, follow }, context) => {
        await context.control.advance(seconds + marginSeconds);
        const { status } = await follow();
        expectThat(status >= 400, 'a refusal', `status ${status}`);
      },
    },
  ],
});

async function configurationOffer(context: TestContext) {
  const device = await acceptedDevice(context);
  const uri = await configurationLink(context, device);
  if (uri === undefined)
    throw new StartStateNotReached('a link to a configuration', 'there is none');
  const expire = new URL(uri).searchParams.get(context.names.linkExpire) ?? '';
  const follow = (headers?: Headers) =>
    context.client.send({ method: 'GET', url: uri, ...(headers && { headers }) });
  const response = await follow();
  return {
    seconds: secondsUntil(context, response, expire),
    marginSeconds: justAfter(response),
    follow,
  };
}

const configurationLinks = defineScenario({
  area: 'time',
  name: 'The expiry of a link to a configuration',
  start: 'a device that was offered a configuration, on a clock that the suite moves',
  effect: 'write',
  needs: ['user', 'clock-control', 'configuration'],
  arrange: configurationOffer,
  cases: [
    {
      id: 'configuration-link-lasts',
      title: 'A minute before its expiry time, the link still returns the configuration.',
      requirements: ['download.valid-until-expire'],
      run: async ({ seconds, follow }, context) => {
        await context.control.advance(seconds - MINUTE_SECONDS);
        expectStatus(await follow(), 200);
      },
    },
    {
      id: 'expired-configuration-link-is-403',
      title:
        'Right after its expiry time, the link is answered with 403, though its signature is valid.',
      requirements: ['download.expired-is-403'],
      run: async ({ seconds, marginSeconds, follow }, context) => {
        await context.control.advance(seconds + marginSeconds);
        expectStatus(await follow(), 403);
      },
    },
    {
      id: 'expired-configuration-link-serves-no-part',
      title: 'After its expiry time the link is answered with 403, also with Range and conditions.',
      requirements: ['download.expired-is-403'],
      run: async ({ seconds, marginSeconds, follow }, context) => {
        await context.control.advance(seconds + marginSeconds);
        await expectEach(403, requestsForFiles, follow);
      },
    },
  ],
});

/** A device that was offered a deployment, and the end of its source. */
interface OfferedSource {
  readonly device: SuiteDevice;
  /** Absent if the instructions do not tell when their source ends, which is optional. */
  readonly end?: { readonly seconds: number; readonly marginSeconds: number };
  readonly follow: () => Promise<HttpResponse>;
}

async function offeredSource(variant: PollVariant, context: TestContext): Promise<OfferedSource> {
  const { device, response } = await instructedBy(variant, context);
  const { uri, expire } = sourceIn(response);
  const follow = () => context.client.send({ method: 'GET', url: uri });
  if (expire === undefined) return { device, follow };
  const seconds = secondsUntil(context, response, expire);
  return { device, end: { seconds, marginSeconds: justAfter(response) }, follow };
}

function sourceIn(response: HttpResponse): {
  readonly uri: string;
  readonly expire: string | undefined;
} {
  const instructions = requireInstructions(response);
  const uri = textIn(instructions, 'artifact.source.uri');
  const isGiven = fieldIn(instructions, 'artifact.source.expire') !== undefined;
  return { uri, expire: isGiven ? textIn(instructions, 'artifact.source.expire') : undefined };
}

function sourcesOf(variant: PollVariant) {
  const { slug, label } = variant;
  return defineScenario<OfferedSource>({
    area: 'time',
    name: `The expiry of a source offered by ${label}`,
    start: 'a device that has been offered an update, on a clock that the suite moves',
    effect: 'write',
    needs: ['user', 'clock-control', ...variant.needs],
    arrange: (context) => offeredSource(variant, context),
    cases: [
      {
        id: `${slug}-source-lasts-until-its-expiry`,
        title: `${label}: a minute before its expiry time the source gives the artifact, not after it.`,
        requirements: ['next.source-valid-until-expire', 'next.source-ends-at-expire'],
        run: async ({ end, follow }, context) => {
          if (end === undefined) return;
          // Other cases check that the source gives the artifact at all.
          if ((await follow()).status !== 200) throw new NotObservable('the source gives nothing');
          await context.control.advance(end.seconds - MINUTE_SECONDS);
          const responseBeforeExpiry = await follow();
          const valid = ['next.source-valid-until-expire'] as const;
          if (responseBeforeExpiry.status !== 200) {
            throw new ExpectationFailure(
              'the artifact',
              responseSummary(responseBeforeExpiry),
              valid,
            );
          }
          await context.control.advance(MINUTE_SECONDS + end.marginSeconds);
          const { status } = await follow();
          const over = ['next.source-ends-at-expire'] as const;
          if (status < 300) throw new ExpectationFailure('no artifact', `status ${status}`, over);
        },
      },
      {
        id: `${slug}-source-is-renewed`,
        title: `${label}: after the expiry of its source a device that polls again gets one that works.`,
        requirements: ['next.source-expires-later', 'next.source-gives-the-artifact'],
        run: async ({ device, end }, context) => {
          if (end === undefined) return;
          await context.control.advance(end.seconds + end.marginSeconds);
          // The token may have expired too.
          device.token = expectToken(await device.authenticate());
          const secondOffer = await variant.poll(device, factoryProvides);
          requireStatus('an offered update', secondOffer, 200);
          const { uri, expire } = sourceIn(secondOffer);
          const isLater =
            expire === undefined || Date.parse(expire) > context.serverNowMs(secondOffer);
          const laterExpiry = ['next.source-expires-later'] as const;
          if (!isLater) throw new ExpectationFailure('a time in the future', expire, laterExpiry);
          const file = await context.client.send({ method: 'GET', url: uri });
          const gives = ['next.source-gives-the-artifact'] as const;
          if (file.status !== 200) {
            throw new ExpectationFailure('the artifact', responseSummary(file), gives);
          }
        },
      },
    ],
  });
}

/** Spec: ArtifactLink; DeploymentInstructions (v1); Device deployments v1 */
export const timeLinkCases = [
  ...artifactLinks,
  ...configurationLinks,
  ...pollVariants.flatMap(sourcesOf),
];
