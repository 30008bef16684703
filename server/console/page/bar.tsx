/** The bar at the top of the page: the server, the tenant, and the state of the event stream. */
import { useEffect } from 'preact/hooks';
import { Badge, type Tone } from '../../../fixtures/page/badge.tsx';
import { requestJson } from './api/client.ts';
import { useLoaded } from './api/loaded.ts';
import { chooseTenant, logOut, streamState, tenant, token } from './api/session.ts';
import iconUrl from './icon.svg?no-inline';
import { nextTheme, theme } from './theme.ts';

const streamStates: Readonly<Record<string, readonly [tone: Tone, text: string]>> = {
  connecting: ['plain', 'Connecting'],
  live: ['positive', 'Live'],
  lost: ['negative', 'Disconnected, reconnecting'],
};

/** Renders the bar. Without a token it shows only the name and the theme. */
export function Bar() {
  const [tone, text] = streamStates[streamState.value] ?? ['plain', ''];
  return (
    <header class="bar">
      <img src={iconUrl} alt="" width="28" height="28" />
      <span class="brand">Fleetbed</span>
      {token.value !== '' && (
        <>
          <span role="status">
            <Badge tone={tone}>{text}</Badge>
          </span>
          <span class="spacer" />
          <TenantChoice />
        </>
      )}
      {token.value === '' && <span class="spacer" />}
      <button type="button" class="kit-button" data-kind="small" onClick={nextTheme}>
        Theme: {theme.value}
      </button>
      {token.value !== '' && (
        <button type="button" class="kit-button" data-kind="small" onClick={() => logOut()}>
          Log out
        </button>
      )}
    </header>
  );
}

function TenantChoice() {
  const { data = [] } = useLoaded(() => requestJson('GET /tenants'), 'tenants', {
    isLive: true,
    pauseTicks: 10,
  });
  const first = data[0]?.id ?? '';
  const isSeveral = data.length > 1;
  // With several tenants one is always selected, since without a tenant the server would send the
  // events of all.
  useEffect(() => {
    if (isSeveral && tenant.value === '') chooseTenant(first);
  }, [isSeveral, first]);
  if (!isSeveral) return null;
  return (
    <label class="tenant-choice">
      Tenant{' '}
      <select
        value={tenant.value || first}
        onChange={(event) => chooseTenant(event.currentTarget.value)}
      >
        {data.map(({ id, name }) => (
          <option key={id} value={id}>
            {name}
          </option>
        ))}
      </select>
    </label>
  );
}
