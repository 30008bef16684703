/** The signature doctor: why a signature does not fit, found out in the browser alone. */
import { useState } from 'preact/hooks';
import { Link } from 'wouter-preact';
import { Verdict } from '../../../../fixtures/page/badge.tsx';
import { Card } from '../../../../fixtures/page/card.tsx';
import { Empty } from '../../../../fixtures/page/states.tsx';
import { askJson, reasonOf } from '../api/client.ts';
import { useLoaded } from '../api/loaded.ts';
import type { Entry, JournalPage } from '../api/types.ts';
import { diagnose, type Finding } from '../doctor/diagnose.ts';
import { deviceName, timeOfDay } from '../parts/texts.ts';
import { View } from '../parts/view.tsx';

interface Draft {
  readonly body: string;
  readonly pubkey: string;
  readonly signature: string;
}

const nothing: Draft = { body: '', pubkey: '', signature: '' };

/** The room. */
export default function DoctorRoom() {
  const [draft, setDraft] = useState(nothing);
  const [finding, setFinding] = useState<Finding | undefined>(undefined);
  const examine = async (given: Draft): Promise<void> => {
    const body = new TextEncoder().encode(given.body);
    const pubkey = given.pubkey.trim() === '' ? keyIn(given.body) : given.pubkey;
    setFinding(await diagnose({ ...given, body, pubkey }));
  };
  const field = (name: keyof Draft, label: string, rows: number) => (
    <label class="kit-field">
      {label}
      <textarea
        rows={rows}
        value={draft[name]}
        spellcheck={false}
        onInput={(event) => {
          setDraft({ ...draft, [name]: event.currentTarget.value });
          setFinding(undefined);
        }}
      />
    </label>
  );
  return (
    <>
      <h1>Signature doctor</h1>
      <p class="quiet">
        Keys, bodies and signatures are examined in this page; nothing is sent anywhere.
      </p>
      <div class="two-columns">
        <Card title="Body, key, signature">
          <div class="stack">
            {field('body', 'Body, exactly as it is sent', 6)}
            {field('pubkey', 'Public key in PEM (that of the body, if empty)', 5)}
            {field('signature', 'Signature, as in the header', 3)}
            <div class="actions">
              <button
                type="button"
                class="kit-button"
                data-kind="main"
                disabled={draft.body === '' || draft.signature === ''}
                onClick={() => examine(draft)}
              >
                Examine
              </button>
            </div>
            <div aria-live="polite">{finding && <Found finding={finding} />}</div>
          </div>
        </Card>
        <Refusals
          onChoose={(chosen) => {
            setDraft(chosen);
            void examine(chosen);
          }}
        />
      </div>
    </>
  );
}

function Found({ finding: { isRight, sentence, remedy, keyType } }: { finding: Finding }) {
  return (
    <Verdict tone={isRight ? 'good' : 'bad'} title={sentence}>
      {remedy && <p>{remedy}</p>}
      {keyType && <p class="quiet">Key: {keyType}</p>}
    </Verdict>
  );
}

/** The key that the body of an authentication request has. */
function keyIn(body: string): string {
  try {
    const { pubkey } = JSON.parse(body);
    return typeof pubkey === 'string' ? pubkey : '';
  } catch {
    return '';
  }
}

const REFUSALS_SHOWN = 20;

function loadRefusals(): Promise<JournalPage> {
  const query = { operation: 'post-auth-request', status: '4xx', limit: 200 };
  return askJson<JournalPage>('/journal', { query });
}

function Refusals({ onChoose }: { onChoose: (draft: Draft) => void }) {
  const [fault, setFault] = useState('');
  const loaded = useLoaded(loadRefusals, 'refused signatures', { isLive: true });
  const choose = async ({ sequence }: Entry): Promise<void> => {
    try {
      const { entry } = await askJson<{ entry: Entry }>(`/journal/${sequence}`);
      onChoose(draftOf(entry));
      setFault('');
    } catch (thrown) {
      setFault(reasonOf(thrown));
    }
  };
  return (
    <Card title="Refused authentication requests">
      <p class="quiet">
        The server explains each of them in full; here its body and signature are taken over. The
        journal shows JSON, not the exact bytes: where these matter, paste them.
      </p>
      {fault !== '' && <p role="alert">{fault}</p>}
      <View what="the refusals" loaded={loaded}>
        {({ entries }) =>
          entries.length === 0 ? (
            <Empty title="No authentication request was refused" />
          ) : (
            <ol class="timeline">
              {entries
                .slice(-REFUSALS_SHOWN)
                .toReversed()
                .map((entry) => (
                  <li key={entry.sequence}>
                    <time dateTime={entry.at}>{timeOfDay(entry.at)}</time>{' '}
                    {deviceName(entry.device?.identity)}{' '}
                    <span class="quiet">{entry.refusal?.error}</span>{' '}
                    <button
                      type="button"
                      class="kit-button"
                      data-kind="small"
                      onClick={() => choose(entry)}
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

function draftOf({ requestBody, requestHeaders = [] }: Entry): Draft {
  const body = typeof requestBody === 'string' ? requestBody : JSON.stringify(requestBody ?? '');
  const signature =
    requestHeaders.find(([name]) => name.toLowerCase().endsWith('-signature'))?.[1] ?? '';
  return { body, signature, pubkey: '' };
}
