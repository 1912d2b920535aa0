/** Edits title, description and target branch of a merge request. */
import { ActButton, Button, Field, Form, Switch } from '../../../../components/Form.tsx'
import { Listing } from '../../../../components/MergeRequests.tsx'
import { WritingArea } from '../../../../components/WritingArea.tsx'
import { below, projectFrame, type InProject } from '../../../../layout/project.tsx'
import { page as declare } from '../../../../page.ts'
import { planActions } from '../actions.ts'
import { loadOne, type InRequest } from '../Head.tsx'
import * as common from '../../../../texts/common.ts'
import * as t from '../../../../texts/merge-requests.ts'

interface Data extends InRequest {
  branches: string[]
}

export const page = declare<Data, InProject>({
  frame: projectFrame,
  signedIn: true,
  load: (request) => ({
    one: loadOne(request),
    branches: request.api
      .maybe('/projects/{id}/repository/branches', { id: request.params.id!, per_page: 100, sort: 'updated_desc' })
      .then((found) => (found ?? []).map(({ name }) => name)),
  }),
  title: ({ one }) => t.editTitle(one.title, one.iid),
  actions: { edit: planActions.edit!, remove: planActions.remove! },
  View: ({ one, project, branches }) => (
    <>
      <h1>{t.editMergeRequest(one.iid)}</h1>
      <Form action="edit">
        <Field name="title" label={common.title} required value={one.title} />
        <WritingArea name="description" label={common.description} lines={12} value={one.description} />
        <Listing name="target_branch" label={common.targetBranch} of={branches} value={one.target_branch} required />
        <Switch
          name="remove_source_branch"
          label={t.deleteSourceBranchWhenMerged}
          isOn={one.force_remove_source_branch}
        />
        {project.squash_option !== 'never' && (
          <Switch name="squash" label={t.squashCommitsWhenMerged} isOn={one.squash} />
        )}
        <p class="row">
          <Button kind="main">{common.save}</Button>
          <a class="button" href={below(project, `merge_requests/${one.iid}`)}>
            {common.cancel}
          </a>
        </p>
      </Form>
      {one.can.destroy && (
        <section>
          <h2>{common.deleteLabel}</h2>
          <p class="quiet">{t.deletesMergeRequestAndAll}</p>
          <ActButton action="remove" kind="danger" confirm={t.deleteThisMergeRequest}>
            {t.deleteMergeRequest}
          </ActButton>
        </section>
      )}
    </>
  ),
})
