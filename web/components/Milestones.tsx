/** Milestones with their progress, and the form to create or edit one. */
import type { Listed, Records } from '../api.ts'
import { useSurroundings } from '../surroundings.ts'
import { text, type FormFields } from '../page.ts'
import { withQuery } from '../query.ts'
import { Field } from './Form.tsx'
import { State } from './State.tsx'
import { Empty, Pages, Row, Rows, Tabs } from './lists.tsx'
import { WritingArea } from './WritingArea.tsx'
import { pathOf } from '../refs.ts'
import * as common from '../texts/common.ts'
import * as t from '../texts/planning.ts'
import './Milestones.css'

export type Milestone = Records['Milestone']
type Counts = Records['IssuesStatistics']['statistics']['counts']
export type Counted = Milestone & { counts: Counts | null }

export const stateIn = (query: URLSearchParams) =>
  (['active', 'closed', 'all'] as const).find((state) => state === query.get('state')) ?? 'active'

export function Progress({ of }: { of: Counts | null }) {
  if (!of || of.all === 0) return <span class="quiet">{t.noIssues}</span>
  const share = Math.floor((100 * of.closed) / of.all)
  return (
    <span class="progress">
      <progress max={of.all} value={of.closed} aria-label={t.shareComplete(share)} />
      <span class="quiet">{t.closedShare(share, of.closed, of.all)}</span>
    </span>
  )
}

export function MilestoneList({ milestones }: { milestones: Listed<Counted[]> }) {
  const { address, query } = useSurroundings()
  const state = stateIn(query)
  const tab = (text: string, one: string) => ({
    text,
    href: withQuery(address, { state: one }),
    isCurrent: one === state,
  })
  return (
    <>
      <Tabs
        label={common.state}
        tabs={[tab(common.open, 'active'), tab(common.closed, 'closed'), tab(common.all, 'all')]}
      />
      {milestones.items.length === 0 ? (
        <Empty title={t.noMilestones}>
          <p>{t.useMilestonesToTrackIssues}</p>
        </Empty>
      ) : (
        <Rows label={common.milestones}>
          {milestones.items.map((one) => (
            <Row
              key={one.id}
              lead={<State of={one.state === 'active' ? 'opened' : 'closed'} isShort />}
              title={<a href={pathOf(one.web_url)}>{one.title}</a>}
              facts={<Dates of={one} />}
              aside={<Progress of={one.counts} />}
            />
          ))}
        </Rows>
      )}
      <Pages of={milestones} />
    </>
  )
}

export const Dates = ({ of: { start_date, due_date, expired } }: { of: Milestone }) => (
  <>
    {start_date && t.from(start_date)}
    {due_date ? t.due(due_date) : t.noDueDate}
    {expired && <span class="badge">{t.expired}</span>}
  </>
)

export const MilestoneFields = ({ milestone }: { milestone?: Milestone }) => (
  <>
    <Field name="title" label={common.title} required value={milestone?.title} />
    <WritingArea name="description" label={common.description} lines={6} value={milestone?.description} />
    <Field name="start_date" type="date" label={t.startDate} value={milestone?.start_date} />
    <Field name="due_date" type="date" label={t.dueDate} value={milestone?.due_date} />
  </>
)

export const milestoneOf = (form: FormFields) => ({
  title: text(form, 'title'),
  description: text(form, 'description'),
  start_date: text(form, 'start_date') || null,
  due_date: text(form, 'due_date') || null,
})
