/** Settings of a group, and its deletion. */
import type { Records } from '../../api.ts'
import { Button, Choice, Field, Form, Switch } from '../../components/Form.tsx'
import { Confirmed, assertTyped } from '../../components/confirmed.tsx'
import { Chapter, Notice } from '../../components/settings.tsx'
import { DeletedLists, deletedActions, deletedFlash, type DeletedData } from '../../components/deleted.tsx'
import { chosenFile, count, flags, listPage, word } from '../../fields.ts'
import type { InGroup } from '../../layout/group.tsx'
import { groupSettingsFrame } from '../../layout/settings.tsx'
import { VISIBILITIES, type VisibilityWord } from '../../levels.ts'
import { page as declare, text } from '../../page.ts'
import * as common from '../../texts/common.ts'
import * as t from '../../texts/groups.ts'

interface Data {
  transferTargets: Records['PublicGroup'][]
  settings: Records['WebSettings']
  deletedProjects: DeletedData['projects']
  deletedGroups: DeletedData['groups']
}

const CREATORS = [
  ['developer', t.developersAndAbove],
  ['maintainer', t.maintainersAndAbove],
  ['owner', common.owners],
  ['noone', common.noOne],
] as const

const SUBGROUP_CREATORS = [
  ['maintainer', t.maintainersAndOwners],
  ['owner', common.owners],
] as const

const SWITCHES = [
  ['request_access_enabled', t.allowUsersToRequestAccess],
  ['share_with_group_lock', t.preventSharingProjectsWithOtherGroups],
  ['membership_lock', t.lockProjectMembership],
  ['lfs_enabled', common.gitLfs],
  ['emails_enabled', t.sendEmailNotifications],
] as const

export const page = declare<Data, InGroup>({
  signedIn: true,
  frame: groupSettingsFrame,
  load: ({ api, params, query }) => ({
    settings: api.get('/application/web_settings', {}),
    deletedProjects: api.list('/groups/{id}/projects', {
      id: params.id!,
      only_pending_delete: true,
      include_subgroups: true,
      with_shared: false,
      ...listPage(query),
    }),
    deletedGroups: api.list('/groups/{id}/descendant_groups', {
      id: params.id!,
      only_pending_delete: true,
      ...listPage(query),
    }),
    transferTargets: api.get('/groups/{id}/transfer_locations', { id: params.id!, per_page: 100 }),
  }),
  title: () => common.settings,
  View: ({ group, transferTargets, settings, deletedProjects, deletedGroups }) => (
    <>
      <h1>{common.generalSettings}</h1>
      <Notice />
      <Form action="save" files>
        <Field name="name" label={common.name} value={group.name} required />
        <Field name="description" label={common.description} value={group.description} lines={3} />
        <Choice name="visibility" label={common.visibility} options={VISIBILITIES} value={group.visibility} />
        <Field name="avatar" label={common.avatar} type="file" />
        <Choice
          name="project_creation_level"
          label={t.rolesThatCanCreateProjects}
          options={CREATORS}
          value={group.project_creation_level}
        />
        <Choice
          name="subgroup_creation_level"
          label={t.rolesThatCanCreateSubgroups}
          options={SUBGROUP_CREATORS}
          value={group.subgroup_creation_level}
        />
        {SWITCHES.map(([name, label]) => (
          <Switch name={name} label={label} isOn={group[name]} key={name} />
        ))}
        <Button kind="main">{common.save}</Button>
      </Form>
      <Chapter title={t.pathAndTransfer} hint={t.changesUrlsOfAllProjects}>
        <Form action="rename">
          <Field name="path" label={common.urlSlug} value={group.path} required />
          <Button>{common.changePath}</Button>
        </Form>
        <Form action="transfer" confirm={t.transferThisGroup}>
          <Choice
            name="group_id"
            label={t.newParentGroup}
            options={[
              ['', t.noParentTopLevelGroup],
              ...transferTargets.map(({ id, full_path }) => [String(id), full_path] as const),
            ]}
          />
          <Button>{t.transferGroup}</Button>
        </Form>
      </Chapter>
      {deletedProjects.total || deletedGroups.total ? (
        <Chapter title={t.deletedProjectsAndSubgroups}>
          <DeletedLists projects={deletedProjects} groups={deletedGroups} />
        </Chapter>
      ) : null}
      <Confirmed
        title={t.deleteThisGroup}
        hint={t.deletesAllProjectsAndSubgroups(settings.last_restore_day)}
        action="remove"
        word={group.full_path}
        button={t.deleteGroup}
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
      return { flash: { notice: common.saved } }
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
      const { last_restore_day } = await api.get('/application/web_settings', {})
      await api.delete('/groups/{id}', { id: params.id! })
      return deletedFlash(t.groupDeleted(params.id!, last_restore_day), last_restore_day)
    },
    ...deletedActions,
  },
})
