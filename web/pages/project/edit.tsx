/** Settings of a project, and its deletion. */
import type { Records } from '../../api.ts'
import { ActButton, Button, Choice, Field, Form, Switch } from '../../components/Form.tsx'
import { Chapter, Notice } from '../../components/settings.tsx'
import { chosenFile, flags, optional, word, words } from '../../fields.ts'
import { type InProject } from '../../layout/project.tsx'
import { projectSettingsFrame } from '../../layout/settings.tsx'
import { VISIBILITIES, type VisibilityWord } from '../../levels.ts'
import { page as declare, text } from '../../page.ts'
import { Confirmed, assertTyped } from '../../components/confirmed.tsx'
import { deletedFlash } from '../../components/deleted.tsx'
import * as common from '../../texts/common.ts'
import * as t from '../../texts/projects.ts'
import './edit.css'

interface Data {
  branches: Records['Branch'][]
  transferTargets: Records['PublicGroup'][]
  settings: Records['WebSettings']
}

const FEATURES = [
  ['repository_access_level', common.repository],
  ['issues_access_level', common.issues],
  ['merge_requests_access_level', common.mergeRequests],
  ['builds_access_level', 'CI/CD'],
  ['wiki_access_level', common.wiki],
  ['snippets_access_level', common.snippets],
  ['forking_access_level', common.forks],
] as const

const ACCESS = [
  ['enabled', t.everyoneWithAccess],
  ['private', t.onlyProjectMembers],
  ['disabled', common.disabled],
] as const
type AccessWord = (typeof ACCESS)[number][0]

const METHODS = [
  ['merge', t.mergeCommit],
  ['rebase_merge', t.mergeCommitWithSemiLinearHistory],
  ['ff', t.fastForwardMerge],
] as const

const SQUASHES = [
  ['default_off', t.allowSquash],
  ['default_on', t.encourageSquash],
  ['always', t.requireSquash],
  ['never', t.doNotAllowSquash],
] as const

const CHECKS = [
  ['only_allow_merge_if_pipeline_succeeds', t.pipelinesMustSucceed],
  ['allow_merge_on_skipped_pipeline', t.skippedPipelinesAreConsideredSuccessful],
  ['only_allow_merge_if_all_discussions_are_resolved', t.allThreadsMustBeResolved],
  ['remove_source_branch_after_merge', t.enableDeleteSourceBranchByDefault],
  ['resolve_outdated_diff_discussions', t.automaticallyResolveThreadsOnOutdatedLines],
  ['printing_merge_request_link_enabled', t.showLinkToCreateMerge],
] as const

export const page = declare<Data, InProject>({
  signedIn: true,
  frame: projectSettingsFrame,
  load({ api, params }) {
    const id = params.id!
    return {
      // Only users who may change a project get this.
      branches: api.maybe('/projects/{id}/repository/branches', { id, per_page: 100 }).then((all) => all ?? []),
      transferTargets: api.get('/projects/{id}/transfer_locations', { id, per_page: 100 }),
      settings: api.get('/application/web_settings', {}),
    }
  },
  title: () => common.settings,
  View: ({ project, branches, transferTargets, settings }) => {
    return (
      <>
        <h1>{common.generalSettings}</h1>
        <Notice />
        <Form action="save" files>
          <Field name="name" label={common.name} value={project.name} required />
          <Field name="description" label={common.description} value={project.description} lines={3} />
          <Field name="topics" label={t.topics} value={project.topics.join(', ')} hint={common.commaSeparated} />
          <Choice name="visibility" label={common.visibility} options={VISIBILITIES} value={project.visibility} />
          {branches.length > 0 && (
            <Choice
              name="default_branch"
              label={t.defaultBranch}
              options={[...new Set([project.default_branch ?? '', ...branches.map(({ name }) => name)])].map((name) => [
                name,
                name,
              ])}
              value={project.default_branch}
            />
          )}
          <Field name="avatar" label={common.avatar} type="file" />
          <Button kind="main">{common.save}</Button>
        </Form>
        <Chapter title={t.features} hint={t.chooseWhoCanUseEachFeature}>
          <Form action="features">
            <div class="switches">
              {FEATURES.map(([name, label]) => (
                <Choice name={name} label={label} options={ACCESS} value={project[name]} key={name} />
              ))}
            </div>
            <Switch
              name="request_access_enabled"
              label={t.allowUsersToRequestAccess}
              isOn={project.request_access_enabled}
            />
            <Switch name="lfs_enabled" label={common.gitLfs} isOn={project.lfs_enabled} />
            <Button>{t.saveFeatures}</Button>
          </Form>
        </Chapter>
        <Chapter title={common.mergeRequests}>
          <Form action="merging">
            <Choice name="merge_method" label={t.mergeMethod} options={METHODS} value={project.merge_method} />
            <Choice
              name="squash_option"
              label={common.squashCommits}
              options={SQUASHES}
              value={project.squash_option}
            />
            {CHECKS.map(([name, label]) => (
              <Switch name={name} label={label} isOn={project[name]} key={name} />
            ))}
            <Button>{t.saveMergeRequestSettings}</Button>
          </Form>
        </Chapter>
        {project.can.own && (
          <>
            <Chapter
              title={project.archived ? t.unarchiveProject : t.archiveProject}
              hint={t.archivedProjectsAreReadOnly}
            >
              {project.archived ? (
                <ActButton action="unarchive">{t.unarchiveProject}</ActButton>
              ) : (
                <ActButton action="archive" confirm={t.archiveThisProject}>
                  {t.archiveProject}
                </ActButton>
              )}
            </Chapter>
            <Chapter title={t.pathAndTransfer} hint={t.theOldUrlRedirects}>
              <Form action="rename">
                <Field name="path" label={common.urlSlug} value={project.path} required />
                <Button>{common.changePath}</Button>
              </Form>
              <Form action="transfer" confirm={t.transferThisProject}>
                <Choice
                  name="namespace"
                  label={t.newNamespace}
                  options={transferTargets.map(({ id, full_path }) => [String(id), full_path])}
                />
                <Button>{t.transferProject}</Button>
              </Form>
            </Chapter>
            <Confirmed
              title={t.deleteThisProject}
              hint={t.deletesRepositoryIssuesMergeRequests(settings.last_restore_day)}
              action="remove"
              word={project.path_with_namespace}
              button={t.deleteProject}
            />
          </>
        )}
      </>
    )
  },
  actions: {
    async save({ api, params, form }) {
      const avatar = chosenFile(form, 'avatar')
      await api.put('/projects/{id}', {
        id: params.id!,
        name: text(form, 'name'),
        description: text(form, 'description'),
        // A form with a file cannot contain an empty list.
        ...(words(form, 'topics').length > 0 || !avatar ? { topics: words(form, 'topics') } : {}),
        visibility: word<VisibilityWord>(form, 'visibility'),
        default_branch: optional(form, 'default_branch'),
        ...(avatar && { avatar }),
      })
      return { flash: { notice: common.saved } }
    },
    async features({ api, params, form }) {
      const levels = FEATURES.map(([name]) => [name, word<AccessWord>(form, name)] as const)
      await api.put('/projects/{id}', {
        id: params.id!,
        ...Object.fromEntries(levels),
        ...flags(form, ['request_access_enabled', 'lfs_enabled']),
      })
      return { flash: { notice: t.featuresSaved } }
    },
    async merging({ api, params, form }) {
      await api.put('/projects/{id}', {
        id: params.id!,
        merge_method: word<(typeof METHODS)[number][0]>(form, 'merge_method'),
        squash_option: word<(typeof SQUASHES)[number][0]>(form, 'squash_option'),
        ...flags(
          form,
          CHECKS.map(([name]) => name),
        ),
      })
      return { flash: { notice: common.saved } }
    },
    async archive({ api, params }) {
      await api.post('/projects/{id}/archive', { id: params.id! })
    },
    async unarchive({ api, params }) {
      await api.post('/projects/{id}/unarchive', { id: params.id! })
    },
    async rename({ api, params, form }) {
      const project = await api.put('/projects/{id}', { id: params.id!, path: text(form, 'path') })
      return `/${project.path_with_namespace}/-/edit`
    },
    async transfer({ api, params, form }) {
      const project = await api.put('/projects/{id}/transfer', { id: params.id!, namespace: text(form, 'namespace') })
      return `/${project.path_with_namespace}/-/edit`
    },
    async remove({ api, params, form }) {
      assertTyped(form, params.id!)
      const { last_restore_day } = await api.get('/application/web_settings', {})
      await api.delete('/projects/{id}', { id: params.id! })
      return deletedFlash(t.projectDeleted(params.id!, last_restore_day), last_restore_day)
    },
  },
})
