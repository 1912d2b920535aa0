/** A list of issues with filters in the URL: tabs for states, chips and a form for filters. */
import type { ComponentChildren } from 'preact'
import type { Listed, Records } from '../api.ts'
import { useSurroundings } from '../surroundings.ts'
import { withQuery } from '../query.ts'
import { Avatar, Person } from './Avatar.tsx'
import { Pick } from './BulkEdit.tsx'
import { Choice, Field } from './Form.tsx'
import { Icon } from './Icon.tsx'
import { Label, State } from './State.tsx'
import { Time } from './Time.tsx'
import { Empty, Pages, Row, Rows, Tabs } from './lists.tsx'
import { pathOf } from '../refs.ts'

export type Issue = Records['Issue']
export type Counts = Records['IssuesStatistics']['statistics']['counts']

const SORTS = {
  created_desc: ['Newest', 'created_at', 'desc'],
  created_asc: ['Oldest', 'created_at', 'asc'],
  updated_desc: ['Last updated', 'updated_at', 'desc'],
  due_asc: ['Due date', 'due_date', 'asc'],
  popularity: ['Most popular', 'popularity', 'desc'],
  priority: ['Priority', 'priority', 'asc'],
  milestone: ['Milestone', 'milestone_due', 'asc'],
  weight: ['Weight', 'weight', 'desc'],
  title: ['Title', 'title', 'asc'],
} as const

const STATES = ['opened', 'closed', 'all'] as const
const labelsIn = (query: URLSearchParams) => query.getAll('label_name[]').filter((name) => name !== '')
const stateIn = (query: URLSearchParams) => STATES.find((state) => state === query.get('state')) ?? 'opened'

/** The filters of the URL, without state, order and page: for counts. */
export function narrowedBy(query: URLSearchParams) {
  const given = (name: string) => query.get(name) || undefined
  const labels = labelsIn(query)
  const assignee = given('assignee_username')
  return {
    ...(labels.length > 0 && { labels }),
    milestone: given('milestone_title'),
    ...(assignee === 'none' ? { assignee_id: 'none' as const } : assignee ? { assignee_username: [assignee] } : {}),
    author_username: given('author_username'),
    search: given('search'),
  }
}

export function filterOf(query: URLSearchParams) {
  const [, order_by, sort] = SORTS[(query.get('sort') ?? '') as keyof typeof SORTS] ?? SORTS.created_desc
  const page = Number(query.get('page')) || 1
  return { ...narrowedBy(query), state: stateIn(query), order_by, sort, page, per_page: 20, with_labels_details: true }
}

interface IssueListProps {
  issues: Listed<Issue[]>
  counts: Counts
  /** Values to choose from; if absent, a text field is shown. */
  labels?: readonly { name: string }[] | null
  milestones?: readonly { title: string }[] | null
  people?: readonly { username: string; name: string }[] | null
  /** Shown if the list is empty. */
  hint?: ComponentChildren
  /** Wraps the rows for bulk edit. */
  around?: (rows: ComponentChildren) => ComponentChildren
}

export function IssueList({ issues, counts, hint, around, ...choices }: IssueListProps) {
  const { address, query } = useSurroundings()
  const state = stateIn(query)
  const tab = (text: string, one: (typeof STATES)[number]) => ({
    text,
    href: withQuery(address, { state: one }),
    count: counts[one],
    isCurrent: one === state,
  })
  const rows = (
    <Rows label="Issues">
      {issues.items.map((issue) => (
        <IssueRow issue={issue} isChosenFrom={around !== undefined} key={issue.id} />
      ))}
    </Rows>
  )
  return (
    <>
      <Tabs label="State" tabs={[tab('Open', 'opened'), tab('Closed', 'closed'), tab('All', 'all')]} />
      <Filters {...choices} />
      <Chips />
      {issues.items.length === 0 ? <Empty title="No issues">{hint}</Empty> : (around?.(rows) ?? rows)}
      <Pages of={issues} />
    </>
  )
}

export function IssueRow({ issue, isChosenFrom = false }: { issue: Issue; isChosenFrom?: boolean }) {
  const { task_completion_status: tasks, milestone } = issue
  return (
    <Row
      lead={
        <>
          {isChosenFrom && <Pick iid={issue.iid} title={issue.title} />}
          <State of={issue.state} isShort />
        </>
      }
      title={
        <span class="title-line">
          {issue.confidential && (
            <span title="Confidential">
              <Icon name="lock" />
              <span class="spoken">Confidential</span>
            </span>
          )}
          <a href={pathOf(issue.web_url)}>{issue.title}</a>
          {issue.labels.map((label) => {
            const of = typeof label === 'string' ? { name: label } : label
            return <Label of={of} key={of.name} />
          })}
        </span>
      }
      facts={
        <>
          {issue.references.relative} · opened <Time at={issue.created_at} /> by <Person of={issue.author} />
          {milestone && (
            <>
              {' '}
              · <Icon name="clock" /> {milestone.title}
            </>
          )}
          {issue.due_date && <> · due {issue.due_date}</>}
          {tasks.count > 0 && (
            <>
              {' '}
              · {tasks.completed_count} of {tasks.count} tasks
            </>
          )}
        </>
      }
      aside={
        <>
          {issue.assignees.map((one) => (
            <span title={`Assigned to ${one.name}`} key={one.id}>
              <Avatar of={one} size={24} />
              <span class="spoken">Assigned to {one.name}</span>
            </span>
          ))}
          {issue.user_notes_count > 0 && (
            <span class="row" title="Comments">
              <Icon name="comment" /> {issue.user_notes_count}
              <span class="spoken">comments</span>
            </span>
          )}
        </>
      }
    />
  )
}

function Filters({ labels, milestones, people }: Omit<IssueListProps, 'issues' | 'counts' | 'hint' | 'around'>) {
  const { address, query } = useSurroundings()
  const chosen = labelsIn(query)
  const [path] = address.split('?', 1)
  const value = (name: string) => query.get(name) ?? ''
  const persons = (people ?? []).map(({ username, name }) => [username, name] as const)
  return (
    <form class="filters" action={path} role="search" aria-label="Issues">
      {query.get('state') && <input type="hidden" name="state" value={stateIn(query)} />}
      {chosen.map((name) => (
        <input type="hidden" name="label_name[]" value={name} key={name} />
      ))}
      <Field
        name="search"
        type="search"
        label="Search titles and descriptions"
        isQuiet
        placeholder="Search"
        value={value('search')}
      />
      {labels && (
        <Choice
          name="label_name[]"
          label="Label"
          isQuiet
          options={[
            ['', 'Any label'],
            ...labels.filter(({ name }) => !chosen.includes(name)).map(({ name }) => [name, name] as const),
          ]}
        />
      )}
      {milestones && (
        <Choice
          name="milestone_title"
          label="Milestone"
          isQuiet
          value={value('milestone_title')}
          options={[
            ['', 'Any milestone'],
            ['None', 'No milestone'],
            ...milestones.map(({ title }) => [title, title] as const),
          ]}
        />
      )}
      {people && (
        <>
          <Choice
            name="assignee_username"
            label="Assignee"
            isQuiet
            value={value('assignee_username')}
            options={[['', 'Any assignee'], ['none', 'Unassigned'], ...persons]}
          />
          <Choice
            name="author_username"
            label="Author"
            isQuiet
            value={value('author_username')}
            options={[['', 'Any author'], ...persons]}
          />
        </>
      )}
      <Choice
        name="sort"
        label="Sort by"
        isQuiet
        value={value('sort') || 'created_desc'}
        options={Object.entries(SORTS).map(([name, [text]]) => [name, text] as const)}
      />
      <button class="button">Search</button>
    </form>
  )
}

const CHIPS: readonly [string, string][] = [
  ['search', 'Text'],
  ['milestone_title', 'Milestone'],
  ['assignee_username', 'Assignee'],
  ['author_username', 'Author'],
]

/** Each chip links to the list without its filter. */
function Chips() {
  const { address, query } = useSurroundings()
  const chips = CHIPS.filter(([name]) => query.get(name)).map(([name, text]) => ({
    text: `${text}: ${query.get(name)}`,
    href: withQuery(address, { [name]: null }),
  }))
  const labels = labelsIn(query).map((label) => ({ text: `Label: ${label}`, href: withoutLabel(address, label) }))
  const all = [...labels, ...chips]
  if (all.length === 0) return null
  return (
    <ul class="chips" aria-label="Filters">
      {all.map(({ text, href }) => (
        <li key={text}>
          <a class="chip" href={href} title="Remove filter">
            {text} <Icon name="cross" />
          </a>
        </li>
      ))}
    </ul>
  )
}

function withoutLabel(address: string, label: string): string {
  const [path = '', text = ''] = address.split('?', 2)
  const query = new URLSearchParams(text)
  query.delete('label_name[]', label)
  query.delete('page')
  return query.size > 0 ? `${path}?${query}` : path
}
