/** Settings of a group, and its deletion. */
import type { Records } from '../../api.ts'
import { Button, Choice, Field, Form, Switch } from '../../components/Form.tsx'
import { Confirmed, assertTyped } from '../../components/confirmed.tsx'
import { Chapter, Notice } from '../../components/settings.tsx'
import { chosenFile, count, flags, word } from '../../fields.ts'
import type { InGroup } from '../../layout/group.tsx'
import { groupSettingsFrame } from '../../layout/settings.tsx'
import { VISIBILITIES, type VisibilityWord } from '../../levels.ts'
import { page as declare, text } from '../../page.ts'

interface Data {
  places: Records['PublicGroup'][]
}

const CREATORS = [
  ['developer', 'Developers and above'],
  ['maintainer', 'Maintainers and above'],
  ['owner', 'Owners'],
  ['noone', 'No one'],
] as const

const SUBGROUP_CREATORS = [
  ['maintainer', 'Maintainers and owners'],
  ['owner', 'Owners'],
] as const

const SWITCHES = [
  ['request_access_enabled', 'Allow users to request access'],
  ['share_with_group_lock', 'Prevent sharing projects with other groups'],
  ['membership_lock', 'Lock project membership'],
  ['lfs_enabled', 'Git LFS'],
  ['emails_enabled', 'Send email notifications'],
] as const

export const page = declare<Data, InGroup>({
  signedIn: true,
  frame: groupSettingsFrame,
  load: ({ api, params }) => ({
    places: api.get('/groups/{id}/transfer_locations', { id: params.id!, per_page: 100 }),
  }),
  title: () => 'Settings',
  View: ({ group, places }) => (
    <>
      <h1>General settings</h1>
      <Notice />
      <Form action="save" files>
        <Field name="name" label="Name" value={group.name} required />
        <Field name="description" label="Description" value={group.description} lines={3} />
        <Choice name="visibility" label="Visibility" options={VISIBILITIES} value={group.visibility} />
        <Field name="avatar" label="Avatar" type="file" />
        <Choice
          name="project_creation_level"
          label="Roles that can create projects"
          options={CREATORS}
          value={group.project_creation_level}
        />
        <Choice
          name="subgroup_creation_level"
          label="Roles that can create subgroups"
          options={SUBGROUP_CREATORS}
          value={group.subgroup_creation_level}
        />
        {SWITCHES.map(([name, label]) => (
          <Switch name={name} label={label} isOn={group[name]} key={name} />
        ))}
        <Button kind="main">Save</Button>
      </Form>
      <Chapter title="Path and transfer" hint="Changes the URLs of all projects in this group.">
        <Form action="rename">
          <Field name="path" label="URL slug" value={group.path} required />
          <Button>Change path</Button>
        </Form>
        <Form action="transfer" confirm="Transfer this group?">
          <Choice
            name="group_id"
            label="New parent group"
            options={[
              ['', 'No parent: top-level group'],
              ...places.map(({ id, full_path }) => [String(id), full_path] as const),
            ]}
          />
          <Button>Transfer group</Button>
        </Form>
      </Chapter>
      <Confirmed
        title="Delete this group"
        hint="Deletes all projects and subgroups. This cannot be undone."
        action="remove"
        word={group.full_path}
        button="Delete group"
      />
    </>
  ),
  actions: {
    async save({ api, params, form }) {
      const avatar = chosenFile(form, 'avatar')
      await api.put('/groups/{id}', {
        id: params.id!,
        name: text(form, 'name'),
        description: text(form, 'description'),
        visibility: word<VisibilityWord>(form, 'visibility'),
        project_creation_level: word<(typeof CREATORS)[number][0]>(form, 'project_creation_level'),
        subgroup_creation_level: word<'owner' | 'maintainer'>(form, 'subgroup_creation_level'),
        ...flags(
          form,
          SWITCHES.map(([name]) => name),
        ),
        ...(avatar && { avatar }),
      })
      return { told: { notice: 'Saved.' } }
    },
    async rename({ api, params, form }) {
      const group = await api.put('/groups/{id}', { id: params.id!, path: text(form, 'path') })
      return `/groups/${group.full_path}/-/edit`
    },
    async transfer({ api, params, form }) {
      const group = await api.post('/groups/{id}/transfer', { id: params.id!, group_id: count(form, 'group_id') })
      return `/groups/${group.full_path}/-/edit`
    },
    async remove({ api, params, form }) {
      assertTyped(form, params.id!)
      await api.delete('/groups/{id}', { id: params.id! })
      return '/'
    },
  },
})
