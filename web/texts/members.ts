/** Texts of members, invitations and access requests. */

// Members, page

export const roleNameInvitedTime = '{roleName} · invited {time}'
export const withdraw = 'Withdraw'
export const addedTime = '· added {time}'
export const expiresOn = (expiresAt: string) => `· expires on ${expiresAt}`
export const invite = 'Invite'
export const share = 'Share'
export const requestedTime = 'requested {time}'
export const deny = 'Deny'
export const membersTotal = (total: number | null) => (total === null ? 'Members' : `Members (${total})`)
export const searchMembers = 'Search members'
export const noMembers = 'No members'
export const membersOfTheseGroups = (scope: string) => `Members of these groups have access to this ${scope}.`
export const maxRoleNamed = (roleName: string) => `max role ${roleName}`
export const removeThisGroup = 'Remove this group?'
export const pendingInvitations = 'Pending invitations'
export const directMember = 'direct member'
export const roleOfName = (name: string) => `Role of ${name}`
export const leaveScope = (scope: string) => `Leave this ${scope}?`
export const removeName = (name: string) => `Remove ${name}?`
export const memberRemoved = (name: string) => `${name} removed`
export const leave = 'Leave'
export const addMemberByNameOrUsername = 'Add member by name or username'
export const roleForName = (name: string) => `Role for ${name}`
export const inviteByEmail = 'Invite by email'
export const shareWithGroup = 'Share with a group'
export const maxRole = 'Max role'
export const accessRequests = 'Access requests'
export const requests = 'Requests'

// Members, whys

export const inheritedFromFullPath = (fullPath: string) => `inherited from ${fullPath}`
export const aParentGroup = 'a parent group'
export const viaFullPath = (fullPath: string) => `via ${fullPath}`
export const aSharedGroup = 'a shared group'
export const ownerOfNamespace = 'owner of the namespace'
export const inheritedFromParentGroup = 'inherited from a parent group'
