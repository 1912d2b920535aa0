/** A new project: empty, with a README, or imported. */
import type { Records } from '../../../api.ts'
import { Button, Choice, Field, Form, Switch } from '../../../components/Form.tsx'
import { VisibilityChoice } from '../../../components/Visibilities.tsx'
import { Tabs } from '../../../components/lists.tsx'
import { count, flag, optional, word } from '../../../fields.ts'
import type { VisibilityWord } from '../../../levels.ts'
import { page as declare, text } from '../../../page.ts'
import * as common from '../../../texts/common.ts'
import * as t from '../../../texts/projects.ts'

interface Data {
  namespaces: Records['Namespace'][]
  /** If the URL names one. */
  group: Records['GroupDetails'] | null
  settings: Records['WebSettings']
}

export const page = declare<Data>({
  signedIn: true,
  load({ api, query }) {
    const id = query.get('namespace')
    return {
      namespaces: api.get('/namespaces', { per_page: 100 }),
      group: id ? api.maybe('/groups/{id}', { id, with_projects: false }) : null,
      settings: api.get('/application/web_settings', {}),
    }
  },
  title: () => common.newProject,
  View: ({ namespaces, group, settings, query, me }) => {
    const isImport = query.get('from') === 'url'
    const own = namespaces.find(({ kind, path }) => kind === 'user' && path === me?.username)
    const named = namespaces.find(({ id, full_path }) => [String(id), full_path].includes(query.get('namespace') ?? ''))
    return (
      <div class="narrow">
        <h1>{common.newProject}</h1>
        <Tabs
          label={t.projectTemplate}
          tabs={[
            { href: '/projects/new', text: t.blankProject, isCurrent: !isImport },
            { href: '/projects/new?from=url', text: t.importFromUrl, isCurrent: isImport },
          ]}
        />
        <div class="chapter">
          <Form action="create">
            {isImport && (
              <Field
                name="import_url"
                label={t.gitRepositoryUrl}
                type="url"
                required
                placeholder="https://example.com/group/project.git"
                hint={t.withCredentialsHttpsUsernamePassword}
              />
            )}
            <Field name="name" label={common.name} required />
            <Field name="path" label={common.urlSlug} hint={t.leaveEmptyToGenerateSlug} />
            <Choice
              name="namespace_id"
              label={t.namespace}
              value={(named ?? own)?.id}
              options={namespaces.map(({ id, full_path, kind }) => [
                String(id),
                kind === 'user' ? `@${full_path}` : full_path,
              ])}
            />
            <Field name="description" label={common.description} lines={3} />
            <VisibilityChoice
              settings={settings}
              usual={settings.default_project_visibility}
              within={group?.visibility}
            />
            {!isImport && (
              <Switch
                name="initialize_with_readme"
                label={t.initializeWithReadme}
                hint={t.letsYouCloneProjectImmediately}
              />
            )}
            <Button kind="main">{isImport ? t.importProject : common.createProject}</Button>
          </Form>
        </div>
      </div>
    )
  },
  actions: {
    async create({ api, form }) {
      const import_url = optional(form, 'import_url')
      const project = await api.post('/projects', {
        name: text(form, 'name'),
        path: optional(form, 'path'),
        namespace_id: count(form, 'namespace_id'),
        description: optional(form, 'description'),
        visibility: word<VisibilityWord>(form, 'visibility'),
        ...(import_url ? { import_url } : { initialize_with_readme: flag(form, 'initialize_with_readme') }),
      })
      return `/${project.path_with_namespace}${import_url ? '/-/import' : ''}`
    },
  },
})
