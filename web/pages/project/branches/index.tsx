/** The branches of a project; merged ones are marked and can be deleted together. */
import type { Listed, Records } from '../../../api.ts'
import { ActButton, Button, Field, Form } from '../../../components/Form.tsx'
import { Icon } from '../../../components/Icon.tsx'
import { Time } from '../../../components/Time.tsx'
import { Empty, Pages, Row, Rows } from '../../../components/lists.tsx'
import { below, projectFrame, type InProject, type Project } from '../../../layout/project.tsx'
import { page as declare, text } from '../../../page.ts'
import { queryText } from '../../../query.ts'
import { archiveAddress, locationAddress } from '../../../refs.ts'
import { compareAddress } from '../../../components/CompareForm.tsx'
import { deletedRef, undoChange } from '../ref_changes/actions.ts'
import * as common from '../../../texts/common.ts'
import * as t from '../../../texts/repository.ts'

interface Data {
  branches: Listed<Records['Branch'][]>
}

export const page = declare<Data, InProject>({
  frame: projectFrame,
  load: ({ api, params, query }) => ({
    branches: api.list('/projects/{id}/repository/branches', {
      id: params.id!,
      search: query.get('search') || null,
      page: Number(query.get('page')) || 1,
      per_page: 30,
    }),
  }),
  title: () => common.branches,
  actions: {
    async create({ api, params, form }) {
      const branch = text(form, 'branch')
      await api.post('/projects/{id}/repository/branches', { id: params.id!, branch, ref: text(form, 'ref') })
      return locationAddress({ path_with_namespace: params.id! }, 'tree', branch)
    },
    async remove({ api, params, form }) {
      const branch = text(form, 'branch')
      await api.delete('/projects/{id}/repository/branches/{branch}', { id: params.id!, branch })
      return deletedRef(api, params.id!, `refs/heads/${branch}`, t.branchDeleted(branch))
    },
    undo: undoChange,
    async removeMerged({ api, params }) {
      await api.delete('/projects/{id}/repository/merged_branches', { id: params.id! })
    },
  },
  View: ({ project, branches, query }) => {
    const mayWrite = project.can.push
    return (
      <>
        <div class="head">
          <h1>
            {common.branches} {branches.total !== null && <span class="count">{branches.total}</span>}
          </h1>
          <form class="row" role="search">
            <input
              type="search"
              name="search"
              aria-label={t.searchBranches}
              placeholder={t.searchBranches}
              value={query.get('search') ?? ''}
            />
          </form>
        </div>
        {mayWrite && (
          <details class="add">
            <summary class="button">
              <Icon name="plus" /> {t.newBranch}
            </summary>
            <Form action="create" class="add-form">
              <Field name="branch" label={common.name} required />
              <Field
                name="ref"
                label={t.createFrom}
                value={project.default_branch}
                required
                hint={t.branchTagOrCommit}
              />
              <Button kind="main">{t.createBranch}</Button>
            </Form>
          </details>
        )}
        {branches.items.length === 0 ? (
          <Empty title={query.get('search') ? t.noMatchingBranches : t.noBranchesYet}>
            <p>{t.pushBranchToGetStarted}</p>
          </Empty>
        ) : (
          <Rows label={common.branches}>
            {branches.items.map((branch) => (
              <BranchRow project={project} branch={branch} mayWrite={mayWrite} key={branch.name} />
            ))}
          </Rows>
        )}
        <Pages of={branches} />
        <p class="after-list">
          <a href={below(project, 'ref_changes')}>{t.historyOfBranchesAndTags}</a>
        </p>
        {mayWrite && branches.items.some(({ merged }) => merged) && (
          <p class="after-list">
            <ActButton action="removeMerged" kind="danger" confirm={t.deleteAllMergedBranchesProtected}>
              {t.deleteMergedBranches}
            </ActButton>
          </p>
        )}
      </>
    )
  },
})

function BranchRow({ project, branch, mayWrite }: { project: Project; branch: Records['Branch']; mayWrite: boolean }) {
  const { name, commit } = branch
  const main = project.default_branch ?? ''
  const request = queryText({ merge_request: { source_branch: name } })
  return (
    <Row
      lead={<Icon name="branch" />}
      title={
        <span class="row">
          <a href={locationAddress(project, 'tree', name)}>{name}</a>
          {branch.default && <span class="badge">{t.defaultBadge}</span>}
          {branch.protected && <span class="badge">{t.protectedBadge}</span>}
          {branch.merged && <span class="badge">{t.mergedBadge}</span>}
        </span>
      }
      facts={
        <>
          <a href={below(project, `commit/${commit.id}`)}>
            <code>{commit.short_id}</code> {commit.title}
          </a>{' '}
          <Time at={commit.committed_date} />
        </>
      }
      aside={
        <>
          {!branch.default && <a href={compareAddress(project, main, name)}>{common.compare}</a>}
          {!branch.default && !branch.merged && mayWrite && project.merge_requests_enabled && (
            <a href={`${below(project, 'merge_requests/new')}?${request}`}>{common.mergeRequest}</a>
          )}
          <a
            href={archiveAddress(project, 'zip', name)}
            aria-label={t.downloadName(name)}
            title={common.download}
            download
          >
            <Icon name="download" />
          </a>
          {mayWrite && !branch.default && !branch.protected && (
            <ActButton
              action="remove"
              kind="plain"
              fields={{ branch: name }}
              id={name}
              label={t.deleteName(name)}
              confirm={t.deleteBranchName(name)}
            >
              <Icon name="trash" />
            </ActButton>
          )}
        </>
      }
    />
  )
}
