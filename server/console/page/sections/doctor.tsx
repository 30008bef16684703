/** The server's signature doctor, which explains why a signature does not match. */
import { useState } from 'preact/hooks';
import { Link } from 'wouter-preact';
import type { BodyInputOf } from '../../../../fixtures/control/operations.ts';
import { Verdict } from '../../../../fixtures/page/badge.tsx';
import { Card } from '../../../../fixtures/page/card.tsx';
import { Empty } from '../../../../fixtures/page/states.tsx';
import { reasonOf, requestJson } from '../api/client.ts';
import { useLoaded } from '../api/loaded.ts';
import type { EntryView, SignatureFinding } from '../api/types.ts';
import { deviceName, timeOfDay } from '../parts/texts.ts';
import { View } from '../parts/view.tsx';

interface ExaminationDraft {
  readonly body: string;
  /** A file to use instead of the text. A text field cannot keep every byte. */
  readonly file?: File | undefined;
  readonly key: string;
  readonly signature: string;
}

/** The input of the doctor: an authentication request in the journal, or bytes from this page. */
type ExaminationInput = BodyInputOf<'POST /doctor/signature'>;

/** The result of the last examination; undefined before the first. */
type ExaminationResult = SignatureFinding | { readonly error: string } | undefined;

export default function DoctorSection() {
  const [response, setResponse] = useState<ExaminationResult>(undefined);
  const examine = async (question: () => Promise<ExaminationInput>): Promise<void> => {
    try {
      const body = await question();
      setResponse(await requestJson('POST /doctor/signature', { body }));
    } catch (thrown) {
      setResponse({ error: reasonOf(thrown) });
    }
  };
  return (
    <>
      <h1>Signature doctor</h1>
      <p class="muted">
        The server examines the exact bytes, as it does to explain a refusal; nothing of it enters
        the journal.
      </p>
      <div aria-live="polite">{response && <Found response={response} />}</div>
      <div class="two-columns">
        <Form
          onChange={() => setResponse(undefined)}
          onExamine={(draft) => examine(() => examinationOf(draft))}
        />
        <Refusals onChoose={({ sequence }) => examine(async () => ({ sequence }))} />
      </div>
    </>
  );
}

async function examinationOf({
  body,
  file,
  key,
  signature,
}: ExaminationDraft): Promise<ExaminationInput> {
  const bytes = file ? new Uint8Array(await file.arrayBuffer()) : new TextEncoder().encode(body);
  return { body: base64(bytes), signature: signature.trim(), ...(key.trim() !== '' && { key }) };
}

function base64(bytes: Uint8Array): string {
  let binary = '';
  for (const byte of bytes) binary += String.fromCharCode(byte);
  return btoa(binary);
}

interface FormProps {
  readonly onChange: () => void;
  readonly onExamine: (draft: ExaminationDraft) => void;
}

function Form({ onChange, onExamine }: FormProps) {
  const [draft, setDraft] = useState<ExaminationDraft>({ body: '', key: '', signature: '' });
  const change = (changed: Partial<ExaminationDraft>): void => {
    setDraft({ ...draft, ...changed });
    onChange();
  };
  const field = (name: 'body' | 'key' | 'signature', label: string, rows: number) => (
    <label class="kit-field">
      {label}
      <textarea
        rows={rows}
        value={draft[name]}
        spellcheck={false}
        disabled={name === 'body' && draft.file !== undefined}
        onInput={(event) => change({ [name]: event.currentTarget.value })}
      />
    </label>
  );
  const isEmpty = (draft.body === '' && !draft.file) || draft.signature.trim() === '';
  return (
    <Card title="Body, key, signature">
      <div class="stack">
        <label class="kit-field">
          File with the body, byte for byte as sent
          <input
            type="file"
            onChange={(event) => change({ file: event.currentTarget.files?.[0] })}
          />
        </label>
        {field('body', 'Or the body as text (a text field changes CR LF to a line feed)', 6)}
        {field('key', 'Public key in PEM (empty: the one in the body)', 5)}
        {field('signature', 'Signature, as in the header', 3)}
        <div class="actions">
          <button
            type="button"
            class="kit-button"
            data-kind="main"
            disabled={isEmpty}
            onClick={() => onExamine(draft)}
          >
            Examine
          </button>
        </div>
      </div>
    </Card>
  );
}

function Found({ response }: { response: NonNullable<ExaminationResult> }) {
  if ('error' in response) return <p role="alert">{response.error}</p>;
  const { fits, sentence, detail, remedy, refusal } = response;
  return (
    <Verdict tone={fits ? 'positive' : 'negative'} title={sentence}>
      {detail && <p>{detail}</p>}
      {remedy && <p>{remedy}</p>}
      {refusal && (
        <p>
          The request was answered with {refusal.status}: {refusal.error}
        </p>
      )}
    </Verdict>
  );
}

const REFUSALS_SHOWN = 20;

function loadRefusals() {
  const query = { operation: 'post-auth-request', status: '4xx', limit: 200 };
  return requestJson('GET /journal', { query });
}

function Refusals({ onChoose }: { onChoose: (entry: EntryView) => void }) {
  const loaded = useLoaded(loadRefusals, 'refused signatures', { isLive: true });
  return (
    <Card title="Refused authentication requests">
      <View subject="the refusals" loaded={loaded}>
        {({ entries }) =>
          entries.length === 0 ? (
            <Empty title="No refused authentication requests" />
          ) : (
            <ol class="timeline">
              {entries
                .slice(-REFUSALS_SHOWN)
                .toReversed()
                .map((entry) => (
                  <li key={entry.sequence}>
                    <time dateTime={entry.at}>{timeOfDay(entry.at)}</time>{' '}
                    {deviceName(entry.device?.identity)}{' '}
                    <span class="muted">{entry.refusal?.error}</span>{' '}
                    <button
                      type="button"
                      class="kit-button"
                      data-kind="small"
                      onClick={() => onChoose(entry)}
                    >
                      Examine
                    </button>{' '}
                    <Link href={`/explain/${encodeURIComponent(entry.requestId)}`}>
                      Explanation
                    </Link>
                  </li>
                ))}
            </ol>
          )
        }
      </View>
    </Card>
  );
}
