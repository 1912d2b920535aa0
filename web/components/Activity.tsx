/** A list of events, newest first: who did what to which record. */
import type { Listed, Records } from '../api.ts'
import { useSurroundings } from '../surroundings.ts'
import { withQuery } from '../query.ts'
import { encodePath } from '../refs.ts'
import { Person } from './Avatar.tsx'
import { Time } from './Time.tsx'
import { Empty, Pages, Row, Rows, Tabs } from './lists.tsx'
import * as common from '../texts/common.ts'
import * as t from '../texts/home.ts'
import './Activity.css'

type Event = Records['Event']

const KINDS = [
  ['', common.all],
  ['pushed', t.pushes],
  ['merged', t.merges],
  ['commented', common.comments],
  ['issue', common.issues],
] as const

export function filterOf(query: URLSearchParams) {
  const kind = query.get('kind')
  const page = Number(query.get('page')) || 1
  const action = (['pushed', 'merged', 'commented'] as const).find((one) => one === kind)
  return {
    ...(kind === 'issue' && { target_type: 'issue' as const }),
    ...(action && { action }),
    per_page: 30,
    page,
  }
}

/** Paths of projects by id. */
export type ProjectPaths = Readonly<Record<number, string>>

export function Activity({ events, projectPaths }: { events: Listed<Event[]>; projectPaths: ProjectPaths }) {
  const { address, query } = useSurroundings()
  const kind = query.get('kind') ?? ''
  return (
    <>
      <Tabs
        label={t.kind}
        tabs={KINDS.map(([one, text]) => ({
          text,
          href: withQuery(address, { kind: one || null }),
          isCurrent: one === kind,
        }))}
      />
      {events.items.length === 0 ? (
        <Empty title={t.noActivityYet} />
      ) : (
        <Rows label={common.activity}>
          {events.items.map((event) => (
            <Item event={event} projectPath={projectPaths[event.project_id]} key={event.id} />
          ))}
        </Rows>
      )}
      <Pages of={events} />
    </>
  )
}

const PATHS: Record<string, readonly [path: string, sign: string]> = {
  Issue: ['issues', '#'],
  MergeRequest: ['merge_requests', '!'],
  Milestone: ['milestones', '%'],
}

function Item({ event, projectPath }: { event: Event; projectPath: string | undefined }) {
  return (
    <Row
      title={
        <span class="event">
          <Person of={event.author} /> {event.action_name} <Target event={event} projectPath={projectPath} />
        </span>
      }
      facts={
        <>
          {projectPath && <a href={`/${projectPath}`}>{projectPath}</a>} · <Time at={event.created_at} />
          {event.note && <> · “{event.note.body.slice(0, 200)}”</>}
          {event.push_data?.commit_title && <> · {event.push_data.commit_title}</>}
        </>
      }
    />
  )
}

function Target({ event, projectPath }: { event: Event; projectPath: string | undefined }) {
  const { push_data: push, note } = event
  if (push) {
    const count = push.commit_count > 1 ? t.commitCount(push.commit_count) : ''
    const href = push.commit_to && projectPath ? `/${projectPath}/-/commits/${encodePath(push.ref ?? '')}` : null
    return (
      <>
        {push.ref_type} {href ? <a href={href}>{push.ref}</a> : push.ref}
        {count}
      </>
    )
  }
  const [kind, iid] = note ? [note.noteable_type, note.noteable_iid] : [event.target_type ?? '', event.target_iid]
  const [path, sign] = PATHS[kind] ?? []
  if (!path || iid === null || !projectPath) return <>{event.target_title}</>
  return (
    <a href={`/${projectPath}/-/${path}/${iid}${note ? `#note_${note.id}` : ''}`}>
      {sign}
      {iid} {event.target_title}
    </a>
  )
}
