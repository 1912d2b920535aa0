import { z } from 'zod'
import { endpoint } from '../../../api/endpoint.ts'
import { dateOut, entity } from '../../../api/wire.ts'
import { VISIBILITIES } from '../../../lib/levels.ts'
import { currentSettings } from '../settings/queries.ts'
import { isOpenToNewcomers } from '../settings/sign-up.ts'
import { latestTokenExpiry } from '../settings/token-expiry.ts'
import { lastRestoreDay } from '../settings/deletion.ts'
import { homePage } from './home-page.ts'

/** The settings that pages need, for every viewer. */
export const get = endpoint({
  method: 'GET',
  path: '/application/web_settings',
  summary: 'Get the settings that steer web pages',
  by: 'visitor',
  allow: 'anyone',
  output: entity({
    home_page_url: z.string().nullable(),
    default_project_visibility: z.enum(VISIBILITIES),
    default_group_visibility: z.enum(VISIBILITIES),
    default_snippet_visibility: z.enum(VISIBILITIES),
    /** Levels that the viewer may not choose. */
    restricted_visibility_levels: z.array(z.enum(VISIBILITIES)),
    protected_ci_variables: z.boolean(),
    shared_runners_text: z.string(),
    polling_interval_multiplier: z.number(),
    /** Users may register themselves. */
    sign_up_open: z.boolean(),
    require_personal_access_token_expiry: z.boolean(),
    user_oauth_applications: z.boolean(),
    /** The latest expiry date of a token created today. */
    latest_token_expiry: dateOut.nullable(),
    /** The last day on which a record deleted today can be restored. Null if records are deleted permanently. */
    last_restore_day: dateOut.nullable(),
  }).meta({ id: 'WebSettings' }),
  async handle({ app, viewer }) {
    const settings = await currentSettings(app)
    return {
      home_page_url: homePage(settings.home_page_url, app.url),
      default_project_visibility: settings.default_project_visibility,
      default_group_visibility: settings.default_group_visibility,
      default_snippet_visibility: settings.default_snippet_visibility,
      restricted_visibility_levels: viewer?.admin ? [] : settings.restricted_visibility_levels,
      protected_ci_variables: settings.protected_ci_variables,
      // For users who run jobs, not for visitors.
      shared_runners_text: viewer ? settings.shared_runners_text : '',
      polling_interval_multiplier: settings.polling_interval_multiplier,
      sign_up_open: isOpenToNewcomers(settings),
      require_personal_access_token_expiry: settings.require_personal_access_token_expiry,
      user_oauth_applications: settings.user_oauth_applications,
      latest_token_expiry: latestTokenExpiry(settings, app.clock),
      last_restore_day: lastRestoreDay(settings, app.clock),
    }
  },
})
