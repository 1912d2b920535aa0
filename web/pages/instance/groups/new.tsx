import type { Records } from '../../../api.ts'
import { Button, Choice, Field, Form } from '../../../components/Form.tsx'
import { VisibilityChoice } from '../../../components/Visibilities.tsx'
import { count, optional, word } from '../../../fields.ts'
import type { VisibilityWord } from '../../../levels.ts'
import { page as declare, text } from '../../../page.ts'
import * as common from '../../../texts/common.ts'
import * as t from '../../../texts/groups.ts'

interface Data {
  parents: Records['Group'][]
  settings: Records['WebSettings']
}

export const page = declare<Data>({
  signedIn: true,
  load: ({ api }) => ({
    parents: api.get('/groups', { min_access_level: 40, order_by: 'path', per_page: 100 }),
    settings: api.get('/application/web_settings', {}),
  }),
  title: () => common.newGroup,
  View: ({ parents, settings, query }) => (
    <div class="narrow">
      <h1>{common.newGroup}</h1>
      <p class="quiet">{t.projectsInGroupShareMembers}</p>
      <Form action="create">
        <Field name="name" label={common.name} required />
        <Field name="path" label={common.urlSlug} hint={t.leaveEmptyToGenerateSlug} />
        <Choice
          name="parent_id"
          label={t.parentGroup}
          value={query.get('parent')}
          options={[
            ['', t.noParentTopLevelGroup],
            ...parents.map(({ id, full_path }) => [String(id), full_path] as const),
          ]}
        />
        <Field name="description" label={common.description} lines={3} />
        <VisibilityChoice
          settings={settings}
          usual={settings.default_group_visibility}
          within={parents.find(({ id }) => String(id) === query.get('parent'))?.visibility}
        />
        <Button kind="main">{t.createGroup}</Button>
      </Form>
    </div>
  ),
  actions: {
    async create({ api, form }) {
      const name = text(form, 'name')
      const group = await api.post('/groups', {
        name,
        path: optional(form, 'path') ?? pathOf(name),
        parent_id: count(form, 'parent_id'),
        description: optional(form, 'description'),
        visibility: word<VisibilityWord>(form, 'visibility'),
      })
      return `/${group.full_path}`
    },
  },
})

const pathOf = (name: string) =>
  name
    .toLowerCase()
    .replace(/[^a-z0-9_]+/g, '-')
    .replace(/^-+|-+$/g, '')
