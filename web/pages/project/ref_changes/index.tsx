/** The history of branches and tags: who created, moved and deleted them, with a way back. */
import type { Listed, Records } from '../../../api.ts'
import { Person } from '../../../components/Avatar.tsx'
import { compareAddress } from '../../../components/CompareForm.tsx'
import { ActButton } from '../../../components/Form.tsx'
import { Icon } from '../../../components/Icon.tsx'
import { Time } from '../../../components/Time.tsx'
import { Empty, Pages, Row, Rows } from '../../../components/lists.tsx'
import { below, projectFrame, type InProject, type Project } from '../../../layout/project.tsx'
import { page as declare } from '../../../page.ts'
import * as common from '../../../texts/common.ts'
import * as t from '../../../texts/repository.ts'
import { undoChange } from './actions.ts'

type RefChange = Records['RefChange']

interface Data {
  changes: Listed<RefChange[]>
}

export const page = declare<Data, InProject>({
  frame: projectFrame,
  load: ({ api, params, query }) => ({
    changes: api.list('/projects/{id}/repository/ref_changes', {
      id: params.id!,
      ref: query.get('ref') || null,
      page: Number(query.get('page')) || 1,
      per_page: 30,
    }),
  }),
  title: () => t.historyOfBranchesAndTags,
  actions: { undo: undoChange },
  View: ({ project, changes, query }) => (
    <>
      <div class="head">
        <h1>{t.historyOfBranchesAndTags}</h1>
        {query.get('ref') && <a href={below(project, 'ref_changes')}>{t.allBranchesAndTags}</a>}
      </div>
      {changes.items.length === 0 ? (
        <Empty title={t.noRefChanges}>
          <p>{t.refChangesAreKept}</p>
        </Empty>
      ) : (
        <Rows label={t.historyOfBranchesAndTags}>
          {changes.items.map((change) => (
            <ChangeRow project={project} change={change} key={change.id} />
          ))}
        </Rows>
      )}
      <Pages of={changes} />
    </>
  ),
})

const shortName = (ref: string) => ref.replace(/^refs\/(heads|tags)\//, '')

function ChangeRow({ project, change }: { project: Project; change: RefChange }) {
  const { ref, before, after } = change
  const name = shortName(ref)
  return (
    <Row
      lead={<Icon name={ref.startsWith('refs/tags/') ? 'tag' : 'branch'} />}
      title={
        <span class="row">
          <a href={`${below(project, 'ref_changes')}?ref=${encodeURIComponent(ref)}`}>{name}</a>
          <span class="badge">{before === null ? t.refCreated : after === null ? t.refDeleted : t.refUpdated}</span>
        </span>
      }
      facts={
        <>
          <Values project={project} change={change} /> <Person of={change.user} /> <Time at={change.created_at} />
        </>
      }
      aside={
        change.current &&
        project.can.undoRefChanges && (
          <ActButton
            action="undo"
            fields={{ change: String(change.id) }}
            id={String(change.id)}
            label={t.undoChangeOf(name)}
            confirm={t.undoChangeOf(name)}
          >
            {common.undo}
          </ActButton>
        )
      }
    />
  )
}

function Values({ project, change: { before, after } }: { project: Project; change: RefChange }) {
  if (before !== null && after !== null)
    return (
      <a href={compareAddress(project, before, after)}>
        <code>{before.slice(0, 8)}</code> → <code>{after.slice(0, 8)}</code>
      </a>
    )
  const sha = before ?? after ?? ''
  return (
    <a href={below(project, `commit/${sha}`)}>
      <code>{sha.slice(0, 8)}</code>
    </a>
  )
}
