/** A state, by icon, colour and word. */
import { Icon, type IconName } from './Icon.tsx'
import * as t from '../texts/common.ts'

type Tone = 'good' | 'bad' | 'busy' | 'done' | 'idle'

const STATES: Record<string, readonly [Tone, IconName, string]> = {
  opened: ['good', 'issue', t.open],
  closed: ['done', 'check', t.closed],
  merged: ['done', 'merge-request', t.merged],
  locked: ['busy', 'lock', t.merging],
  active: ['good', 'check', t.active],
  blocked: ['bad', 'lock', t.blocked],
  blocked_pending_approval: ['busy', 'clock', t.pendingApproval],
  success: ['good', 'check', t.passed],
  failed: ['bad', 'cross', t.failed],
  running: ['busy', 'running', t.running],
  pending: ['busy', 'clock', t.pending],
  created: ['idle', 'clock', t.created],
  preparing: ['idle', 'clock', t.preparing],
  waiting_for_resource: ['busy', 'clock', t.waiting],
  scheduled: ['idle', 'clock', t.scheduled],
  canceling: ['idle', 'skipped', t.cancelling],
  canceled: ['idle', 'skipped', t.cancelled],
  skipped: ['idle', 'skipped', t.skipped],
  manual: ['idle', 'gear', t.manual],
}

export const STATE_NAMES = Object.keys(STATES)

export const lookOf = (state: string) => STATES[state] ?? (['idle', 'clock', state.replaceAll('_', ' ')] as const)

export function State({ of, isShort = false }: { of: string; isShort?: boolean }) {
  const [tone, icon, word] = lookOf(of)
  return (
    <span class="state" data-tone={tone} data-state={of} title={word}>
      <Icon name={icon} />
      <span class={isShort ? 'spoken' : ''}>{word}</span>
    </span>
  )
}

export function Visibility({ of }: { of: string }) {
  return <span class="badge">{of}</span>
}

export function Label({ of, href }: { of: { name: string; color?: string | null | undefined }; href?: string }) {
  const content = (
    <>
      <svg class="label-dot" viewBox="0 0 10 10" width="10" height="10" aria-hidden="true">
        <circle cx="5" cy="5" r="5" fill={of.color ?? '#888888'} />
      </svg>
      {of.name}
    </>
  )
  return href ? (
    <a class="label" href={href}>
      {content}
    </a>
  ) : (
    <span class="label">{content}</span>
  )
}

/** Task boxes are not bound to their texts, so they get labels. Wide code can be scrolled with the keyboard. */
const accessible = (html: string) =>
  html
    .replaceAll('class="task-list-item-checkbox"', 'class="task-list-item-checkbox" aria-label="Task"')
    .replaceAll('<pre>', '<pre tabindex="0">')

/** Text of users, rendered and sanitised by the server. */
export const Prose = ({ html }: { html: string }) => (
  <div class="prose" dangerouslySetInnerHTML={{ __html: accessible(html) }} />
)
