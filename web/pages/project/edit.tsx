/** Settings of a project, and its deletion. */
import type { Records } from '../../api.ts'
import { ActButton, Button, Choice, Field, Form, Switch } from '../../components/Form.tsx'
import { Chapter, Notice } from '../../components/settings.tsx'
import { chosenFile, flags, optional, word, words } from '../../fields.ts'
import { type InProject } from '../../layout/project.tsx'
import { projectSettingsFrame } from '../../layout/settings.tsx'
import { levelOf, VISIBILITIES, type VisibilityWord } from '../../levels.ts'
import { page as declare, text } from '../../page.ts'
import { Confirmed, assertTyped } from '../../components/confirmed.tsx'

interface Data {
  branches: Records['Branch'][]
  places: Records['PublicGroup'][]
}

const FEATURES = [
  ['repository_access_level', 'Repository'],
  ['issues_access_level', 'Issues'],
  ['merge_requests_access_level', 'Merge requests'],
  ['builds_access_level', 'CI/CD'],
  ['wiki_access_level', 'Wiki'],
  ['snippets_access_level', 'Snippets'],
  ['forking_access_level', 'Forks'],
] as const

const ACCESS = [
  ['enabled', 'Everyone with access'],
  ['private', 'Only project members'],
  ['disabled', 'Disabled'],
] as const
type AccessWord = (typeof ACCESS)[number][0]

const METHODS = [
  ['merge', 'Merge commit'],
  ['rebase_merge', 'Merge commit with semi-linear history'],
  ['ff', 'Fast-forward merge'],
] as const

const SQUASHES = [
  ['default_off', 'Allow'],
  ['default_on', 'Encourage'],
  ['always', 'Require'],
  ['never', 'Do not allow'],
] as const

const CHECKS = [
  ['only_allow_merge_if_pipeline_succeeds', 'Pipelines must succeed'],
  ['allow_merge_on_skipped_pipeline', 'Skipped pipelines are considered successful'],
  ['only_allow_merge_if_all_discussions_are_resolved', 'All threads must be resolved'],
  ['remove_source_branch_after_merge', 'Enable “Delete source branch” by default'],
  ['resolve_outdated_diff_discussions', 'Automatically resolve threads on outdated lines'],
  ['printing_merge_request_link_enabled', 'Show link to create a merge request when pushing'],
] as const

export const page = declare<Data, InProject>({
  signedIn: true,
  frame: projectSettingsFrame,
  load({ api, params }) {
    const id = params.id!
    return {
      // Only users who may change a project get this.
      branches: api.maybe('/projects/{id}/repository/branches', { id, per_page: 100 }).then((all) => all ?? []),
      places: api.get('/projects/{id}/transfer_locations', { id, per_page: 100 }),
    }
  },
  title: () => 'Settings',
  View: ({ project, branches, places, me }) => {
    const isMine = project.namespace.kind === 'user' && project.namespace.full_path === me?.username
    const isOwner = isMine || levelOf(project) >= 50 || me?.is_admin
    return (
      <>
        <h1>General settings</h1>
        <Notice />
        <Form action="save" files>
          <Field name="name" label="Name" value={project.name} required />
          <Field name="description" label="Description" value={project.description} lines={3} />
          <Field name="topics" label="Topics" value={project.topics.join(', ')} hint="Comma-separated." />
          <Choice name="visibility" label="Visibility" options={VISIBILITIES} value={project.visibility} />
          {branches.length > 0 && (
            <Choice
              name="default_branch"
              label="Default branch"
              options={[...new Set([project.default_branch ?? '', ...branches.map(({ name }) => name)])].map((name) => [
                name,
                name,
              ])}
              value={project.default_branch}
            />
          )}
          <Field name="avatar" label="Avatar" type="file" />
          <Button kind="main">Save</Button>
        </Form>
        <Chapter title="Features" hint="Choose who can use each feature.">
          <Form action="features">
            <div class="switches">
              {FEATURES.map(([name, label]) => (
                <Choice name={name} label={label} options={ACCESS} value={project[name]} key={name} />
              ))}
            </div>
            <Switch
              name="request_access_enabled"
              label="Allow users to request access"
              isOn={project.request_access_enabled}
            />
            <Switch name="lfs_enabled" label="Git LFS" isOn={project.lfs_enabled} />
            <Button>Save features</Button>
          </Form>
        </Chapter>
        <Chapter title="Merge requests">
          <Form action="merging">
            <Choice name="merge_method" label="Merge method" options={METHODS} value={project.merge_method} />
            <Choice name="squash_option" label="Squash commits" options={SQUASHES} value={project.squash_option} />
            {CHECKS.map(([name, label]) => (
              <Switch name={name} label={label} isOn={project[name]} key={name} />
            ))}
            <Button>Save merge request settings</Button>
          </Form>
        </Chapter>
        {isOwner && (
          <>
            <Chapter
              title={project.archived ? 'Unarchive project' : 'Archive project'}
              hint="Archived projects are read-only."
            >
              {project.archived ? (
                <ActButton action="unarchive">Unarchive project</ActButton>
              ) : (
                <ActButton action="archive" confirm="Archive this project?">
                  Archive project
                </ActButton>
              )}
            </Chapter>
            <Chapter title="Path and transfer" hint="The old URL redirects to the new URL.">
              <Form action="rename">
                <Field name="path" label="URL slug" value={project.path} required />
                <Button>Change path</Button>
              </Form>
              <Form action="transfer" confirm="Transfer this project?">
                <Choice
                  name="namespace"
                  label="New namespace"
                  options={places.map(({ id, full_path }) => [String(id), full_path])}
                />
                <Button>Transfer project</Button>
              </Form>
            </Chapter>
            <Confirmed
              title="Delete this project"
              hint="Deletes the repository, issues, merge requests and all other data. This cannot be undone."
              action="remove"
              word={project.path_with_namespace}
              button="Delete project"
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
      return { told: { notice: 'Saved.' } }
    },
    async features({ api, params, form }) {
      const levels = FEATURES.map(([name]) => [name, word<AccessWord>(form, name)] as const)
      await api.put('/projects/{id}', {
        id: params.id!,
        ...Object.fromEntries(levels),
        ...flags(form, ['request_access_enabled', 'lfs_enabled']),
      })
      return { told: { notice: 'Features saved.' } }
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
      return { told: { notice: 'Saved.' } }
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
      await api.delete('/projects/{id}', { id: params.id! })
      return '/'
    },
  },
})
