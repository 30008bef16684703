/** Cases: the signed link to an artifact file. Spec: ArtifactLink */
import { artifactLinkShape } from '../../fixtures/contract/resources.ts';
import { defineScenario } from '../case.ts';
import {
  expectEqual,
  expectShape,
  expectStatus,
  expectThat,
  expectUrl,
  observed,
  shownAnswer,
} from '../expectations.ts';
import type { Stage } from '../stage/stage.ts';
import { deviceAndArtifact } from '../stage/start-states.ts';
import { withAlteredSignature } from '../target/altered-link.ts';
import type { Headers } from '../target/exchange.ts';
import type { Answer } from '../target/target.ts';

async function artifactLink(stage: Stage) {
  const { device, artifact } = await deviceAndArtifact(stage, 'plain');
  const answer = await device.call('get-artifact-link', { path: { id: artifact.id } });
  expectStatus(answer, 200);
  const { uri: text, expire } = expectShape(answer, artifactLinkShape);
  const uri = expectUrl('a link', text);
  const follow = (headers: Headers = {}): Promise<Answer> =>
    stage.session.send({ method: 'GET', url: uri, headers });
  return { artifact, uri, expire, givenMs: stage.serverNowMs(answer), follow };
}

const link = defineScenario({
  area: 'artifact-link',
  name: 'The link',
  start: 'a device that got a link to an artifact file',
  risk: 'write',
  needs: ['operator'],
  arrange: artifactLink,
  cases: [
    {
      id: 'link-gives-the-file',
      title: 'GET on the link gives the artifact byte by byte, without a token.',
      requirements: ['link.gives-the-file'],
      run: async ({ artifact, follow }) => {
        const file = await follow();
        expectStatus(file, 200);
        expectThat(file.bytes.equals(artifact.bytes), 'the uploaded file', 'other bytes');
      },
    },
    {
      id: 'range-is-206',
      title: 'With Range the link gives that part of the file and says which part it is.',
      requirements: ['link.range'],
      run: async ({ artifact, follow }) => {
        const part = await follow({ range: 'bytes=1000-1999' });
        expectStatus(part, 206);
        const whole = artifact.bytes;
        expectEqual(
          'Content-Range',
          part.headers['content-range'],
          `bytes 1000-1999/${whole.length}`,
        );
        expectThat(part.bytes.equals(whole.subarray(1000, 2000)), 'that part', 'other bytes');
      },
    },
    {
      id: 'resumed-download-is-the-rest',
      title: 'A device that lost its connection resumes with an open Range and gets the rest.',
      requirements: ['link.range'],
      run: async ({ artifact, follow }) => {
        const rest = await follow({ range: 'bytes=16384-' });
        expectStatus(rest, 206);
        expectThat(rest.bytes.equals(artifact.bytes.subarray(16_384)), 'the rest', 'other bytes');
      },
    },
    {
      id: 'if-modified-since-is-304',
      title: 'With If-Modified-Since of the last change the link answers 304 without the file.',
      requirements: ['link.if-modified-since'],
      run: async ({ follow }) => {
        const lastModified = (await follow()).headers['last-modified'];
        expectThat(lastModified !== undefined, 'a Last-Modified header', 'none');
        expectStatus(await follow({ 'if-modified-since': lastModified }), 304);
      },
    },
    {
      id: 'if-unmodified-since-is-412',
      title: 'With If-Unmodified-Since of a day before the file was made the link answers 412.',
      requirements: ['link.if-unmodified-since'],
      run: async ({ follow }) => {
        const early = 'Thu, 01 Jan 2015 00:00:00 GMT';
        expectStatus(await follow({ 'if-unmodified-since': early }), 412);
      },
    },
    {
      id: 'other-methods-are-refused',
      title: 'PUT, POST and DELETE on the link are refused.',
      requirements: ['link.get-only'],
      run: async ({ uri }, stage) => {
        for (const method of ['PUT', 'POST', 'DELETE']) {
          const answer = await stage.session.send({ method, url: uri });
          const isRefused = answer.status >= 400 && answer.status < 500;
          expectThat(isRefused, `${method} refused with 4xx`, shownAnswer(answer));
        }
      },
    },
    {
      id: 'altered-link-is-refused',
      title: 'With one character of its query changed the link gives no file.',
      requirements: ['link.is-signed'],
      run: async ({ uri }, stage) => {
        const url = withAlteredSignature(uri);
        expectStatus(await stage.session.send({ method: 'GET', url }), 400, 401, 403, 404);
      },
    },
    {
      id: 'link-lifetime',
      title: 'How long the link is valid.',
      requirements: ['link.lifetime'],
      observe: async ({ expire, givenMs }) => {
        const seconds = Math.round((Date.parse(expire) - givenMs) / 1000);
        return observed(`about ${seconds} seconds`);
      },
    },
  ],
});

const asking = defineScenario({
  area: 'artifact-link',
  name: 'Asking for a link',
  start: 'an accepted device, and an uploaded artifact',
  risk: 'write',
  needs: ['operator'],
  arrange: (stage) => deviceAndArtifact(stage, 'plain'),
  cases: [
    {
      id: 'link-is-200',
      title: 'A link is answered 200 with a uri and the moment, still to come, when it expires.',
      requirements: ['link.fields'],
      covers: ['get-artifact-link 200'],
      run: async ({ device, artifact }, stage) => {
        const answer = await device.call('get-artifact-link', { path: { id: artifact.id } });
        expectStatus(answer, 200);
        const { expire } = expectShape(answer, artifactLinkShape);
        expectThat(Date.parse(expire) > stage.serverNowMs(answer), 'a later moment', expire);
      },
    },
    {
      id: 'unknown-artifact-is-404',
      title: 'A link to an artifact that does not exist is answered 404.',
      requirements: ['artifacts.unknown-is-404'],
      covers: ['get-artifact-link 404'],
      run: async ({ device }, stage) => {
        const path = { id: stage.random.uuid() };
        expectStatus(await device.call('get-artifact-link', { path }), 404);
      },
    },
    {
      id: 'malformed-id-is-refused',
      title: 'A link to an artifact id that is none is answered 400 or 404.',
      requirements: ['artifacts.malformed-id'],
      covers: ['get-artifact-link 400'],
      run: async ({ device }) => {
        const answer = await device.call('get-artifact-link', { path: { id: 'no-such-form' } });
        expectStatus(answer, 400, 404);
      },
    },
  ],
});

/** Spec: ArtifactLink */
export const artifactLinkCases = [...asking, ...link];
