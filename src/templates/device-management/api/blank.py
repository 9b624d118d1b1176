"""A computer as it is known before it has sent its inventory."""

from svc_env import Row

BLANK_COMPUTER: Row = {
    "site_id": None,
    "building_id": None,
    "department_id": None,
    "general": {
        "name": "", "lastIpAddress": None, "lastReportedIp": None, "jamfBinaryVersion": None, "platform": "Mac",
        "barcode1": None, "barcode2": None, "assetTag": None,
        "remoteManagement": {"managed": False, "managementUsername": None},
        "supervised": False, "mdmCapable": {"capable": False, "capableUsers": []}, "reportDate": None,
        "lastContactTime": None, "lastEnrolledDate": None, "mdmProfileExpiration": None, "initialEntryDate": None,
        "enrolledViaAutomatedDeviceEnrollment": False, "userApprovedMdm": False,
        "declarativeDeviceManagementEnabled": False,
    },
    "userAndLocation": {
        "username": None, "realname": None, "email": None, "position": None, "phone": None, "room": None,
    },
    "hardware": {
        "make": "Apple", "model": "", "modelIdentifier": "", "serialNumber": "", "processorCount": 1, "coreCount": 0,
        "processorType": "", "processorArchitecture": "", "macAddress": "", "altMacAddress": None,
        "totalRamMegabytes": 0, "batteryCapacityPercent": None, "bleCapable": True, "supportsIosAppInstalls": False,
        "appleSilicon": False,
    },
    "operatingSystem": {
        "name": "macOS", "version": "", "build": "", "activeDirectoryStatus": "Not Bound",
        "fileVault2Status": "NOT_ENCRYPTED",
    },
    "security": {
        "sipStatus": "NOT_COLLECTED", "gatekeeperStatus": "NOT_COLLECTED", "activationLockEnabled": False,
        "recoveryLockEnabled": False, "firewallEnabled": False, "secureBootLevel": "UNKNOWN",
        "externalBootLevel": "UNKNOWN", "bootstrapTokenAllowed": False,
    },
    "diskEncryption": {
        "bootPartitionEncryptionDetails": {
            "partitionName": "", "partitionFileVault2State": "UNKNOWN", "partitionFileVault2Percent": 0,
        },
        "individualRecoveryKeyValidityStatus": "UNKNOWN", "institutionalRecoveryKeyPresent": False,
        "fileVault2EnabledUserNames": [],
    },
    "purchasing": {
        "leased": False, "purchased": True, "poNumber": None, "poDate": None, "vendor": None, "warrantyDate": None,
        "appleCareId": None, "leaseDate": None, "purchasePrice": None, "lifeExpectancy": 0,
        "purchasingAccount": None, "purchasingContact": None,
    },
    "storage": {"bootDriveAvailableSpaceMegabytes": None, "disks": []},
    "applications": [],
    "localUserAccounts": [],
}  # fmt: skip
