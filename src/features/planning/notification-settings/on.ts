import { on } from '../../../context.ts'

/** Deletes the setting of a former member, unless the user is a member again. */
export const deleteSettingOfFormerMember = on(
  'member.removed',
  'notification settings',
  async ({ db }, { user_id, project_id, group_id }) => {
    await db
      .deleteFrom('notification_settings')
      .where('user_id', '=', user_id)
      .where(project_id === null ? 'group_id' : 'project_id', '=', project_id ?? group_id)
      .where(({ not, exists, selectFrom }) =>
        not(
          exists(
            selectFrom('members')
              .select('id')
              .where('user_id', '=', user_id)
              .where(project_id === null ? 'group_id' : 'project_id', '=', project_id ?? group_id),
          ),
        ),
      )
      .execute()
  },
)
