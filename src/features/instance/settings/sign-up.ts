import type { Settings } from './model.ts'

/** Whether users may register themselves, with a password that they then sign in with. */
export const isOpenToNewcomers = (settings: Settings): boolean =>
  settings.signup_enabled && settings.password_authentication_enabled
