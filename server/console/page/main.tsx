/**
 * The entry of the console page: logs the user in, follows the server, and renders the view at the
 * address.
 */
import '../../../fixtures/page/theme.css';
import '../../../fixtures/page/kit.css';
import '../../../fixtures/page/kit-lists.css';
import './console.css';
import './sections.css';
import { render } from 'preact';
import { startLive } from './api/live.ts';
import { followAddress } from './api/session.ts';
import { App } from './app.tsx';
import { applyTheme } from './theme.ts';

followAddress();
applyTheme();
startLive();
const root = document.getElementById('app');
if (root) render(<App />, root);
