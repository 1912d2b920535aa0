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
import { rich } from '../rich.ts'
import * as common from '../texts/common.ts'
import * as t from '../texts/planning.ts'
import './IssueList.css'

export type Issue = Records['Issue']
export type Counts = Records['IssuesStatistics']['statistics']['counts']

const SORTS = {
  created_desc: [common.newest, 'created_at', 'desc'],
  created_asc: [common.oldest, 'created_at', 'asc'],
  updated_desc: [common.lastUpdated, 'updated_at', 'desc'],
  due_asc: [t.dueDate, 'due_date', 'asc'],
  popularity: [common.mostPopular, 'popularity', 'desc'],
  priority: [t.priority, 'priority', 'asc'],
  milestone: [common.milestone, 'milestone_due', 'asc'],
  weight: [t.weight, 'weight', 'desc'],
  title: [common.title, 'title', 'asc'],
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
    <Rows label={common.issues}>
      {issues.items.map((issue) => (
        <IssueRow issue={issue} isChosenFrom={around !== undefined} key={issue.id} />
      ))}
    </Rows>
  )
  return (
    <>
      <Tabs
        label={common.state}
        tabs={[tab(common.open, 'opened'), tab(common.closed, 'closed'), tab(common.all, 'all')]}
      />
      <Filters {...choices} />
      <Chips />
      {issues.items.length === 0 ? <Empty title={t.noIssues}>{hint}</Empty> : (around?.(rows) ?? rows)}
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
            <span title={t.confidential}>
              <Icon name="lock" />
              <span class="spoken">{t.confidential}</span>
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
          {rich(t.relativeOpenedTimeByPerson, {
            relative: issue.references.relative,
            time: <Time at={issue.created_at} />,
            person: <Person of={issue.author} />,
          })}
          {milestone && (
            <>
              {' '}
              · <Icon name="clock" /> {milestone.title}
            </>
          )}
          {issue.due_date && <> {t.dueSuffix(issue.due_date)}</>}
          {tasks.count > 0 && <> {t.tasksDone(tasks.completed_count, tasks.count)}</>}
        </>
      }
      aside={
        <>
          {issue.assignees.map((one) => (
            <span title={t.assignedToName(one.name)} key={one.id}>
              <Avatar of={one} size={24} />
              <span class="spoken">{t.assignedToName(one.name)}</span>
            </span>
          ))}
          {issue.user_notes_count > 0 && (
            <span class="row" title={common.comments}>
              <Icon name="comment" /> {issue.user_notes_count}
              <span class="spoken">{t.comments}</span>
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
    <form class="filters" action={path} role="search" aria-label={common.issues}>
      {query.get('state') && <input type="hidden" name="state" value={stateIn(query)} />}
      {chosen.map((name) => (
        <input type="hidden" name="label_name[]" value={name} key={name} />
      ))}
      <Field
        name="search"
        type="search"
        label={t.searchTitlesAndDescriptions}
        isQuiet
        placeholder={common.search}
        value={value('search')}
      />
      {labels && (
        <Choice
          name="label_name[]"
          label={t.label}
          isQuiet
          options={[
            ['', t.anyLabel],
            ...labels.filter(({ name }) => !chosen.includes(name)).map(({ name }) => [name, name] as const),
          ]}
        />
      )}
      {milestones && (
        <Choice
          name="milestone_title"
          label={common.milestone}
          isQuiet
          value={value('milestone_title')}
          options={[
            ['', t.anyMilestone],
            [common.none, t.noMilestone],
            ...milestones.map(({ title }) => [title, title] as const),
          ]}
        />
      )}
      {people && (
        <>
          <Choice
            name="assignee_username"
            label={common.assignee}
            isQuiet
            value={value('assignee_username')}
            options={[['', t.anyAssignee], ['none', t.unassigned], ...persons]}
          />
          <Choice
            name="author_username"
            label={common.author}
            isQuiet
            value={value('author_username')}
            options={[['', t.anyAuthor], ...persons]}
          />
        </>
      )}
      <Choice
        name="sort"
        label={common.sortBy}
        isQuiet
        value={value('sort') || 'created_desc'}
        options={Object.entries(SORTS).map(([name, [text]]) => [name, text] as const)}
      />
      <button class="button">{common.search}</button>
    </form>
  )
}

const CHIPS: readonly [string, string][] = [
  ['search', t.text],
  ['milestone_title', common.milestone],
  ['assignee_username', common.assignee],
  ['author_username', common.author],
]

/** Each chip links to the list without its filter. */
function Chips() {
  const { address, query } = useSurroundings()
  const chips = CHIPS.filter(([name]) => query.get(name)).map(([name, text]) => ({
    text: `${text}: ${query.get(name)}`,
    href: withQuery(address, { [name]: null }),
  }))
  const labels = labelsIn(query).map((label) => ({ text: t.labelNamed(label), href: withoutLabel(address, label) }))
  const all = [...labels, ...chips]
  if (all.length === 0) return null
  return (
    <ul class="chips" aria-label={t.filters}>
      {all.map(({ text, href }) => (
        <li key={text}>
          <a class="chip" href={href} title={t.removeFilter}>
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
