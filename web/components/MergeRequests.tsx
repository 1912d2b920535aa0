/** Lists of merge requests: of a project, of a group, of the viewer. */
import type { ComponentChildren } from 'preact'
import type { Listed, Records } from '../api.ts'
import { useSurroundings } from '../surroundings.ts'
import { withQuery } from '../query.ts'
import { Avatar, Person } from './Avatar.tsx'
import { Pick } from './BulkEdit.tsx'
import { Choice, Field, useValue } from './Form.tsx'
import { Icon } from './Icon.tsx'
import { Label, State } from './State.tsx'
import { Time } from './Time.tsx'
import { Empty, Pages, Row, Rows, Tabs, type Tab } from './lists.tsx'
import { pathOf } from '../refs.ts'

export type MergeRequest = Records['MergeRequest']

export const STATES = ['opened', 'merged', 'closed', 'all'] as const
export type StateFilter = (typeof STATES)[number]
const WORDS: Record<StateFilter, string> = { opened: 'Open', merged: 'Merged', closed: 'Closed', all: 'All' }

const SORTS = [
  ['created_desc', 'Newest'],
  ['created_asc', 'Oldest'],
  ['updated_desc', 'Last updated'],
  ['updated_asc', 'Least recently updated'],
  ['merged_desc', 'Recently merged'],
  ['popularity_desc', 'Most popular'],
  ['title_asc', 'Title'],
] as const

const ORDERS = {
  created: 'created_at',
  updated: 'updated_at',
  merged: 'merged_at',
  popularity: 'popularity',
  title: 'title',
} as const

export const stateOf = (query: URLSearchParams): StateFilter =>
  STATES.find((state) => state === query.get('state')) ?? 'opened'

/** The filters of the URL, as API parameters. */
export function filterOf(query: URLSearchParams) {
  const given = (name: string) => query.get(name)?.trim() || undefined
  const [by = '', direction] = (given('sort') ?? 'created_desc').split('_')
  const draft = given('draft')
  const assignee = given('assignee')
  return {
    search: given('search'),
    author_username: given('author'),
    ...(assignee && { assignee_username: [assignee] }),
    reviewer_username: given('reviewer'),
    milestone: given('milestone'),
    target_branch: given('target'),
    ...(given('labels') && { labels: labelNames(given('labels')!) }),
    ...((draft === 'yes' || draft === 'no') && { wip: draft as 'yes' | 'no' }),
    order_by: ORDERS[by as keyof typeof ORDERS] ?? 'created_at',
    sort: direction === 'asc' ? ('asc' as const) : ('desc' as const),
    with_labels_details: true,
    page: Math.max(1, Math.trunc(Number(query.get('page'))) || 1),
    per_page: 20,
  }
}

export const labelNames = (text: string) =>
  text
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '')

const FILTERS = ['search', 'author', 'assignee', 'reviewer', 'milestone', 'target', 'labels', 'draft']

export const isFiltered = (query: URLSearchParams) => FILTERS.some((name) => query.get(name))

/** Tabs by state, each with its count if known. */
export function StateTabs({ counts }: { counts?: Partial<Record<StateFilter, number | null>> }) {
  const { address, query } = useSurroundings()
  const current = stateOf(query)
  const tabs = STATES.map((state): Tab => ({
    text: WORDS[state],
    href: withQuery(address, { state: state === 'opened' ? null : state }),
    count: counts?.[state],
    isCurrent: state === current,
  }))
  return <Tabs label="Status" tabs={tabs} />
}

export function Filters({ labels = [], milestones = [] }: { labels?: string[]; milestones?: string[] }) {
  const { address, query } = useSurroundings()
  const value = (name: string) => query.get(name) ?? ''
  const isOpen = FILTERS.slice(1).some((name) => query.get(name))
  return (
    <form class="review-filters" action={address.split('?', 1)[0]} role="search" aria-label="Merge requests">
      {query.get('state') && <input type="hidden" name="state" value={value('state')} />}
      {query.get('scope') && <input type="hidden" name="scope" value={value('scope')} />}
      <div class="review-search">
        <Field
          name="search"
          label="Search titles and descriptions"
          type="search"
          isQuiet
          placeholder="Search"
          value={value('search')}
        />
        <Choice name="sort" label="Sort by" isQuiet options={SORTS} value={value('sort') || 'created_desc'} />
        <button class="button">Search</button>
      </div>
      <details open={isOpen}>
        <summary>More filters</summary>
        <div class="review-more">
          <Field name="author" label="Author" value={value('author')} placeholder="username" />
          <Field name="assignee" label="Assignee" value={value('assignee')} placeholder="username" />
          <Field name="reviewer" label="Reviewer" value={value('reviewer')} placeholder="username" />
          <Listing name="labels" label="Labels" of={labels} value={value('labels')} />
          <Listing name="milestone" label="Milestone" of={milestones} value={value('milestone')} />
          <Field name="target" label="Target branch" value={value('target')} />
          <Choice
            name="draft"
            label="Drafts"
            options={[
              ['', 'Shown'],
              ['no', 'Hidden'],
              ['yes', 'Only drafts'],
            ]}
            value={value('draft')}
          />
        </div>
      </details>
    </form>
  )
}

interface ListingProps {
  name: string
  label: string
  of: readonly string[]
  value?: string
  required?: boolean
  hint?: string
}

/** A text field with suggestions. */
export const Listing = ({ name, label, of, value = '', required, hint }: ListingProps) => (
  <label class="field">
    <span class="field-label">{label}</span>
    <input
      name={name}
      list={`${name}-list`}
      defaultValue={useValue(name, value)}
      required={required}
      autocomplete="off"
    />
    <datalist id={`${name}-list`}>
      {of.map((one) => (
        <option value={one} key={one} />
      ))}
    </datalist>
    {hint && <small class="quiet">{hint}</small>}
  </label>
)

export const labelsOf = (one: { labels: MergeRequest['labels'] }) =>
  one.labels.map((label) => (typeof label === 'string' ? { name: label, color: null } : label))

interface RequestsProps {
  of: Listed<MergeRequest[]>
  empty: ComponentChildren
  /** For lists of several projects. */
  isFromMany?: boolean
  /** The usual target branch, which is not shown. */
  usualTarget?: string | null | undefined
  /** Wraps the rows for bulk edit. */
  around?: (rows: ComponentChildren) => ComponentChildren
}

export function Requests({ of, empty, isFromMany = false, usualTarget, around }: RequestsProps) {
  const { query, address } = useSurroundings()
  if (of.items.length === 0)
    return isFiltered(query) ? (
      <Empty title="No matching merge requests">
        <p>
          <a href={address.split('?', 1)[0]}>Clear filters</a>
        </p>
      </Empty>
    ) : (
      <>{empty}</>
    )
  const rows = (
    <Rows label="Merge requests">
      {of.items.map((one) => (
        <RequestRow one={one} isChosenFrom={around !== undefined} {...{ isFromMany, usualTarget }} key={one.id} />
      ))}
    </Rows>
  )
  return (
    <>
      {around?.(rows) ?? rows}
      <Pages of={of} />
    </>
  )
}

interface RowProps {
  one: MergeRequest
  isFromMany: boolean
  usualTarget: string | null | undefined
  isChosenFrom: boolean
}

function RequestRow({ one, isFromMany, usualTarget, isChosenFrom }: RowProps) {
  const moment = one.state === 'merged' ? one.merged_at : one.state === 'closed' ? one.closed_at : null
  return (
    <Row
      lead={
        <>
          {isChosenFrom && <Pick iid={one.iid} title={one.title} />}
          <RequestState of={one} isShort />
        </>
      }
      title={
        <span class="review-title">
          <a href={pathOf(one.web_url)}>{one.title}</a>
          {labelsOf(one).map((label) => (
            <Label of={label} key={label.name} />
          ))}
        </span>
      }
      facts={
        <>
          {isFromMany ? one.references.full : one.references.short} opened <Time at={one.created_at} /> by{' '}
          <Person of={one.author} />
          {moment && (
            <>
              {', '}
              {one.state} <Time at={moment} />
            </>
          )}
          {one.target_branch !== usualTarget && (
            <>
              {' '}
              into <code>{one.target_branch}</code>
            </>
          )}
          {one.milestone && ` · ${one.milestone.title}`}
          {one.task_completion_status.count > 0 &&
            ` · ${one.task_completion_status.completed_count} of ${one.task_completion_status.count} tasks`}
        </>
      }
      aside={
        <>
          {one.state === 'opened' && one.has_conflicts && (
            <span class="state" data-tone="bad" title="Merge conflicts with the target branch">
              <Icon name="warning" />
              <span class="spoken">Conflicts</span>
            </span>
          )}
          {one.reviewers.length > 0 && <Faces of={one.reviewers} label="Reviewers" />}
          {one.assignees.length > 0 && <Faces of={one.assignees} label="Assignees" />}
          {one.user_notes_count > 0 && (
            <span title={`${one.user_notes_count} comments`}>
              <Icon name="comment" /> {one.user_notes_count}
            </span>
          )}
        </>
      }
    />
  )
}

/** Avatars of a few users; their names are in the label and the tooltip. */
export function Faces({ of, label }: { of: readonly Records['UserSummary'][]; label: string }) {
  const names = `${label}: ${of.map(({ name }) => name).join(', ')}`
  return (
    <span class="review-faces" title={names}>
      <span class="spoken">{names}</span>
      {of.slice(0, 4).map((one) => (
        <Avatar of={one} size={24} key={one.id} />
      ))}
      {of.length > 4 && <span class="quiet">+{of.length - 4}</span>}
    </span>
  )
}

const STATE_LOOKS = {
  opened: ['good', 'merge-request', 'Open'],
  closed: ['bad', 'cross', 'Closed'],
  merged: ['done', 'branch', 'Merged'],
  draft: ['idle', 'pencil', 'Draft'],
} as const

/** For a merge request "closed" means that it was not merged, so it is not shown as done. */
export function RequestState({
  of,
  isShort = false,
}: {
  of: Pick<MergeRequest, 'state' | 'draft'>
  isShort?: boolean
}) {
  const look = STATE_LOOKS[of.state === 'opened' && of.draft ? 'draft' : of.state] as
    | (typeof STATE_LOOKS)['opened']
    | undefined
  if (!look) return <State of={of.state} isShort={isShort} />
  const [tone, icon, word] = look
  return (
    <span class="state" data-tone={tone} data-state={of.state} title={word}>
      <Icon name={icon} />
      <span class={isShort ? 'spoken' : ''}>{word}</span>
    </span>
  )
}
