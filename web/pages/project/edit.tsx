/** What a project is and does, and its end. */
import type { Records } from '../../api.ts'
import { ActButton, Button, Choice, Field, Form, Switch } from '../../components/Form.tsx'
import { Chapter, Notice } from '../../components/settings.tsx'
import { chosenFile, flags, optional, word, words } from '../../fields.ts'
import { levelOf, type InProject } from '../../layout/project.tsx'
import { projectSettingsFrame } from '../../layout/settings.tsx'
import { VISIBILITIES, type VisibilityWord } from '../../levels.ts'
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
  ['builds_access_level', 'CI'],
  ['wiki_access_level', 'Wiki'],
  ['snippets_access_level', 'Snippets'],
  ['forking_access_level', 'Forks'],
] as const

const ACCESS = [
  ['enabled', 'Everybody who sees the project'],
  ['private', 'Members only'],
  ['disabled', 'Nobody: off'],
] as const
type AccessWord = (typeof ACCESS)[number][0]

const METHODS = [
  ['merge', 'Merge commit'],
  ['rebase_merge', 'Merge commit, of a branch that is up to date'],
  ['ff', 'Fast-forward only'],
] as const

const SQUASHES = [
  ['default_off', 'Allowed, off at first'],
  ['default_on', 'Allowed, on at first'],
  ['always', 'Always'],
  ['never', 'Never'],
] as const

const CHECKS = [
  ['only_allow_merge_if_pipeline_succeeds', 'The pipeline must pass'],
  ['allow_merge_on_skipped_pipeline', 'A skipped pipeline passes too'],
  ['only_allow_merge_if_all_discussions_are_resolved', 'All threads must be resolved'],
  ['remove_source_branch_after_merge', 'Remove the source branch after the merge'],
  ['resolve_outdated_diff_discussions', 'Resolve threads on lines that a push changed'],
  ['printing_merge_request_link_enabled', 'Show a link for a new merge request after a push'],
] as const

export const page = declare<Data & Partial<InProject>>({
  signedIn: true,
  frame: projectSettingsFrame,
  load({ api, params }) {
    const id = params.id!
    return {
      // Only those who may change a project are told this.
      branches: api.maybe('/projects/{id}/repository/branches', { id, per_page: 100 }).then((all) => all ?? []),
      places: api.get('/projects/{id}/transfer_locations', { id, per_page: 100 }),
    }
  },
  title: () => 'Settings',
  View: ({ project, branches, places, me }) => {
    if (!project) return null
    const isMine = project.namespace.kind === 'user' && project.namespace.full_path === me?.username
    const isOwner = isMine || levelOf(project) >= 50 || me?.is_admin
    return (
      <>
        <h1>General settings</h1>
        <Notice />
        <Form action="save" files>
          <Field name="name" label="Name" value={project.name} required />
          <Field name="description" label="Description" value={project.description} lines={3} />
          <Field
            name="topics"
            label="Topics"
            value={project.topics.join(', ')}
            hint="Words, with commas between them."
          />
          <Choice name="visibility" label="Who may see it" options={VISIBILITIES} value={project.visibility} />
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
          <Field name="avatar" label="Picture" type="file" />
          <Button kind="main">Save</Button>
        </Form>
        <Chapter title="Features" hint="Who may use which part.">
          <Form action="features">
            <div class="switches">
              {FEATURES.map(([name, label]) => (
                <Choice name={name} label={label} options={ACCESS} value={project[name]} key={name} />
              ))}
            </div>
            <Switch
              name="request_access_enabled"
              label="People may request access"
              isOn={project.request_access_enabled}
            />
            <Switch name="lfs_enabled" label="Large files (LFS)" isOn={project.lfs_enabled} />
            <Button>Save features</Button>
          </Form>
        </Chapter>
        <Chapter title="Merge requests">
          <Form action="merging">
            <Choice name="merge_method" label="Merged by" options={METHODS} value={project.merge_method} />
            <Choice name="squash_option" label="Squash commits" options={SQUASHES} value={project.squash_option} />
            {CHECKS.map(([name, label]) => (
              <Switch name={name} label={label} isOn={project[name]} key={name} />
            ))}
            <Button>Save merge requests</Button>
          </Form>
        </Chapter>
        {isOwner && (
          <>
            <Chapter
              title={project.archived ? 'Unarchive' : 'Archive'}
              hint="What is archived can be read, and not be changed."
            >
              {project.archived ? (
                <ActButton action="unarchive">Unarchive project</ActButton>
              ) : (
                <ActButton action="archive" confirm="Archive the project?">
                  Archive project
                </ActButton>
              )}
            </Chapter>
            <Chapter title="Path and owner" hint="The old address leads to the new one.">
              <Form action="rename">
                <Field name="path" label="Path" value={project.path} required />
                <Button>Change path</Button>
              </Form>
              <Form action="transfer" confirm="Move the project?">
                <Choice
                  name="namespace"
                  label="Move to"
                  options={places.map(({ id, full_path }) => [String(id), full_path])}
                />
                <Button>Move project</Button>
              </Form>
            </Chapter>
            <Confirmed
              title="Delete this project"
              hint="Its repository, issues, merge requests and all else go with it. This cannot be undone."
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
        // A form with a file cannot hold an empty list.
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
      return { told: { notice: 'Features are saved.' } }
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
