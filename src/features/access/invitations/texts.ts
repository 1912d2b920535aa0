/** Texts of the pages for invitations. */

export const youAreInvitedToJoin = 'You are invited to join the {kind} {name} as {role}.'
export const acceptInvitation = 'Accept invitation'
export const acceptAs = (username: string) => `Accept as ${username}`
export const youAreInvited = 'You are invited'
export const signInToAccept = '{link} to accept.'
export const signIn = 'Sign in'
export const invitationAccepted = 'Invitation accepted'
export const youAreNowMember = 'You are now a member of the {kind} {name}.'
export const invitationNotAccepted = 'Invitation not accepted'
export const acceptsNoNewMembers = (kind: string, name: string) => `The ${kind} ${name} does not accept new members.`
export const invitationNoLongerValid = 'This invitation is no longer valid'
export const askForNewInvitation =
  'The invitation was already accepted, was withdrawn or has expired. Ask for a new invitation.'
